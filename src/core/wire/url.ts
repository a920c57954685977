import { invalid } from "../checks/invalid-input.ts";

const FORBIDDEN = /[\\?#{}<>\p{Cc}\p{Cf}\p{Z}]/u;

/**
 * Names the first character in a text that no encoded value has, and that an address or the static parts of a path must not
 * have; `undefined` if there is none.
 */
export function forbiddenIn(text: string): string | undefined {
  const [found] = FORBIDDEN.exec(text) ?? [];
  if (found === undefined) return undefined;
  if (/[{<]/.test(found)) return `must not contain a placeholder (${found})`;
  return `must not contain ${/[!-~]/.test(found) ? found : "white space, control or invisible characters"}`;
}

/** Percent-encodes UTF-8 as RFC 3986 has it; a lone surrogate, which has no UTF-8, is refused. */
export function encodeText(value: string, what: string): string {
  if (/\p{Surrogate}/u.test(value)) invalid(`${what} has a lone surrogate, which cannot be encoded`);
  return encodeURIComponent(value);
}
