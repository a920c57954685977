import { SECRET_HEADER } from "../core/secrets/redact.ts";

/** The ways in which a URL or JSON may spell the line between the parts of a token, also a URL or JSON within another. */
const LINE = String.raw`(?:_|%(?:25)*5f|(?:\\|%(?:25)*5c)+u005f)`;

/** Returns a function that takes tokens with this prefix out of a text, also one that is cut off in its secret. */
export function withoutTokens(prefix: string): (text: string) => string {
  const start = prefix.split("_").join(LINE); // a prefix has letters, digits, - and _ alone
  const secret = new RegExp(`(${start}${LINE}[a-z0-9]+${LINE})[a-z0-9]+`, "gi");
  return (text) => text.replace(secret, "$1***");
}

/** Takes the values of `plaintext` out of a body, whatever form a token has. */
export function withoutPlaintexts(body: string): string {
  return body.replace(/("plaintext"\s*:\s*")(?:[^"\\]|\\.?)*/gi, "$1***");
}

/** Takes out the values of header fields that are secret by their names. The log masks `authorization` itself. */
export function withoutSecrets(headers: Iterable<readonly [string, string]>): Record<string, string> {
  const isShown = (name: string): boolean => name === "authorization" || !SECRET_HEADER.test(name);
  return Object.fromEntries(Array.from(headers, ([name, value]) => [name, isShown(name) ? value : "***"]));
}
