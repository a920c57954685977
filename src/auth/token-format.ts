import { ignoreErrors, shown } from "../base/check.ts";
import { AutomationError } from "../errors/automation-error.ts";

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
  if (typeof token === "number") return "must be a string, not a number";
  if (typeof token !== "string") return `must be a string, not ${shown(token)}${hintFor(token)}`;
  if (token === "") return "must not be empty";
  if (/^bearer\s/i.test(token)) return "must be the token alone: omit the scheme (Bearer)";
  const index = token.search(/[^!-~]/);
  return index < 0 ? undefined : `must not contain white space, control or non-ASCII characters (see index ${index})`;
}

function hintFor(token: unknown): string {
  if (typeof token !== "object" || token === null || !("plaintext" in token)) return "";
  return ": pass its .plaintext, or rotatingToken({ token, onRotated }) to have it renewed";
}

export function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

export function isTimestamp(value: unknown): value is string {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) && Number.isFinite(Date.parse(value));
}

/** A token record as it came, without the fields of `StoredToken` that are of no use. It may be invalid or incomplete. */
export function usableFields(record: unknown): Partial<StoredToken> {
  if (typeof record !== "object" || record === null || Array.isArray(record)) return {};
  const { id, plaintext, expires_at, ...others } = record as Record<string, unknown>; // any object can be asked for any field
  return {
    ...others,
    ...(isNonEmptyString(id) && { id }),
    ...(typeof plaintext === "string" && flawOfToken(plaintext) === undefined && { plaintext }),
    ...(isTimestamp(expires_at) && { expires_at }),
  };
}

/**
 * What can be used of the response to a rotation that has failed. The service may have revoked the old token, so what the
 * error's `rawBody` has is taken, also where the response was cut off behind it.
 */
export function usableFieldsOf(failure: unknown): Partial<StoredToken> {
  const text = failure instanceof AutomationError ? failure.rawBody : undefined;
  return text === undefined ? {} : usableFields(parseTorn(text));
}

/** The object that a text begins with, as far as its fields are whole; `undefined` if it does not begin with one. */
function parseTorn(text: string): unknown {
  let depth = 0;
  let lastComma = 0;
  // A string may be torn, too.
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.?)*(?:"|$)|[{}[\],]/gs)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (token === "," && depth === 1) lastComma = index;
  }
  return [text, `${text}}`, `${text.slice(0, lastComma)}}`]
    .map((whole) => ignoreErrors((): unknown => JSON.parse(whole)))
    .find((parsed) => parsed !== undefined);
}
