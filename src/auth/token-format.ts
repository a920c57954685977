/** What has to be stored of a token, so that it can be used and rotated later. A `CreatedToken` can be passed as it is. */
export interface StoredToken {
  /** The token record's id. */
  id: string;
  /** The full token. */
  plaintext: string;
  /** When it expires: an ISO 8601 timestamp, as the service sent it. */
  expires_at: string;
}

/**
 * What is wrong with a token, in words that do not contain it; `undefined` if it is valid. A token is opaque, but it is
 * sent in a header: visible ASCII only (RFC 6750), since platforms trim, mangle or quote anything else in their errors.
 */
export function flawOfToken(token: unknown): string | undefined {
  if (typeof token !== "string") return `must be a string, not ${token === null ? "null" : typeof token}`;
  if (token === "") return "must not be empty";
  if (/^bearer\s/i.test(token)) return "must be the token alone: omit the scheme (Bearer)";
  const index = token.search(/[^!-~]/);
  return index < 0 ? undefined : `must not contain white space, control or non-ASCII characters (see index ${index})`;
}

export function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

export function isTimestamp(value: unknown): value is string {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) && Number.isFinite(Date.parse(value));
}

/** The fields of a token record that can be used, of a record that may be invalid or incomplete. */
export function usableFields(record: unknown): Partial<StoredToken> {
  if (typeof record !== "object" || record === null) return {};
  const { id, plaintext, expires_at } = record as Record<string, unknown>; // any object can be asked for any field
  return {
    ...(isNonEmptyString(id) && { id }),
    ...(typeof plaintext === "string" && flawOfToken(plaintext) === undefined && { plaintext }),
    ...(isTimestamp(expires_at) && { expires_at }),
  };
}

/** As `usableFields`, of the text of a response. */
export function usableFieldsIn(text: string | undefined): Partial<StoredToken> {
  try {
    return usableFields(JSON.parse(text ?? ""));
  } catch {
    return {};
  }
}
