import { SECRET_HEADER } from "../core/secrets/redact.ts";

/** Returns a function that takes tokens with this prefix out of a text, also one that is cut off in its secret. */
export function withoutTokens(prefix: string): (text: string) => string {
  const secret = new RegExp(`(${prefix}_[a-z0-9]+_)[a-z0-9]+`, "gi"); // a prefix has letters, digits, - and _ alone
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
