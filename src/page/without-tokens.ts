/** The ways in which a URL or JSON may spell the line between the parts of a token, also a URL or JSON within another. */
const LINE = String.raw`(?:_|%(?:25)*5f|(?:\\|%(?:25)*5c)+u005f)`;

/**
 * Returns a function that takes tokens out of a text: each that has the form of `token`, also one that is cut off in its secret.
 */
export function withoutTokens(token: string): (text: string) => string {
  const [, prefix = ""] = /^(.*)_[^_]+_[^_]+$/.exec(token) ?? [];
  const start = prefix.split("_").join(LINE); // a prefix has letters, digits, - and _ alone
  const secret = new RegExp(`(${start}${LINE}[a-z0-9]+${LINE})[a-z0-9]+`, "gi");
  return (text) => text.replace(secret, "$1***");
}

/** Takes the values of `plaintext` out of a body, whatever form a token has. */
export function withoutPlaintexts(body: string): string {
  return body.replace(/("plaintext"\s*:\s*")(?:[^"\\]|\\.?)*/gi, "$1***");
}

/** Header fields whose values are secrets of some service. The log masks `authorization` itself. */
const SECRET = ["cookie", "set-cookie", "proxy-authorization"];

export function withoutSecrets(headers: Iterable<readonly [string, string]>): Record<string, string> {
  return Object.fromEntries(Array.from(headers, ([name, value]) => [name, SECRET.includes(name) ? "***" : value]));
}
