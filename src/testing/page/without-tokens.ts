/** The ways in which a URL or JSON may spell the line between the parts of a token. */
const LINE = String.raw`(?:_|%5f|\\u005f)`;

/**
 * Returns a function that takes tokens out of a text: each that has the form of `token`, also one that is cut off in its secret.
 */
export function withoutTokens(token: string): (text: string) => string {
  const [, prefix = ""] = /^(.*)_[^_]+_[^_]+$/.exec(token) ?? [];
  const start = prefix.split("_").join(LINE); // a prefix has letters, digits, - and _ alone
  const secret = new RegExp(`(${start}${LINE}[a-z0-9]+${LINE})[a-z0-9]+`, "gi");
  return (text) => text.replace(secret, "$1***");
}
