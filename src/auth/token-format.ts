/**
 * What is wrong with a token, in words that do not show it; `undefined` if nothing is. A token is opaque, but travels in
 * a header: visible ASCII only (RFC 6750), since platforms trim, mangle or quote anything else in their errors.
 */
export function flawOfToken(token: unknown): string | undefined {
  if (typeof token !== "string") return `must be a string, not ${token === null ? "null" : typeof token}`;
  if (token === "") return "must not be empty";
  if (/^bearer\s/i.test(token)) return "must be the token alone: omit the scheme (Bearer)";
  const at = token.search(/[^!-~]/);
  return at < 0 ? undefined : `must not contain white space, control or non-ASCII characters (see index ${at})`;
}
