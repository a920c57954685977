import { invalid } from "../checks/invalid-input.ts";
import { INVALID, type Shape, strings } from "../checks/validators.ts";
import { describeValue, fieldsOf, isObject, isRecord, SHORTEST_SECRET } from "../checks/values.ts";
import { AutomationError } from "../errors/automation-error.ts";
import { parseJson } from "../wire/json.ts";

/**
 * The problem of a token, in words that do not contain it; `undefined` if it is valid. A token is opaque, but it is
 * sent in a header: visible ASCII only (RFC 6750), since platforms trim, mangle or quote anything else in their errors.
 */
export function problemOfToken(token: unknown): string | undefined {
  if (typeof token === "number") return "must be a string, not a number";
  if (typeof token !== "string") return `must be a string, not ${describeValue(token)}${hintFor(token)}`;
  if (token === "") return "must not be empty";
  // No bearer token of RFC 6750 begins with one of these characters.
  if (/^(?:undefined$|null$|your[_-](?:api[_-]?)?(?:token|key)|[$%<[{])/i.test(token))
    return "must be a token, not a placeholder or an unset variable";
  if (/^["'].*["']$/.test(token)) return "must be the token alone: leave out the quotes (docker --env-file keeps them)";
  if (/^bearer\s/i.test(token)) return "must be the token alone: omit the scheme (Bearer)";
  const index = token.search(/[^!-~]/);
  return index < 0 ? undefined : `must not contain white space, control or non-ASCII characters (see index ${index})`;
}

/** A token; the message for anything else does not show it, and calls it `what`. */
export function parseToken(token: unknown, what = "token"): string {
  const problem = problemOfToken(token);
  return problem === undefined ? String(token) : invalid(`${what} ${problem}`);
}

function hintFor(token: unknown): string {
  if (!isObject(token) || !("plaintext" in token)) return "";
  return ": pass its .plaintext, or rotatingToken({ token, onRotated })";
}

/**
 * `true` if the encoded part of a URL holds the token, or one of its form: `<prefix>_<key>_<secret>` with the same prefix, and
 * at least as long.
 */
export function containsToken(target: string, token: string): boolean {
  if (token.length < SHORTEST_SECRET || target.length < token.length) return false;
  if (target.includes(encodeURIComponent(token))) return true;
  const prefix = /^[a-z\d]+_(?=[^_]+_.)/i.exec(token)?.[0];
  if (prefix === undefined || !target.includes(prefix)) return false;
  return target.split(/[/?&=]/).some((part) => {
    const start = part.indexOf(prefix);
    return start >= 0 && part.length - start >= token.length && /^[^_]+_./.test(part.slice(start + prefix.length));
  });
}

/** The plaintext of a token record, which may be anything; `undefined` if it cannot be sent. */
export function plaintextOf(record: unknown): string | undefined {
  const { plaintext } = fieldsOf(record);
  return typeof plaintext === "string" && problemOfToken(plaintext) === undefined ? plaintext : undefined;
}

export const TOKEN = {
  id: strings("a non-empty string", (value) => value !== ""),
  plaintext: strings("a token", (value) => problemOfToken(value) === undefined),
  expires_at: strings(
    "an ISO 8601 timestamp",
    (value) => /^\d{4}-\d\d-\d\dT/.test(value) && Number.isFinite(Date.parse(value)),
  ),
} satisfies Shape<StoredToken>;

/** A token record as it came, without the fields of `StoredToken` that are of no use. It may be invalid or incomplete. */
export function usableFields(record: unknown): Partial<StoredToken> {
  if (!isRecord(record)) return {};
  const usable = Object.entries<unknown>({ ...record }).filter(
    ([key, value]) => !Object.hasOwn(TOKEN, key) || TOKEN[key as keyof StoredToken].parse(value) !== INVALID, // it has that key
  );
  return Object.fromEntries(usable) as Partial<StoredToken>; // as far as TOKEN says
}

/**
 * The token record in the response to a rotation that has failed, as far as its fields are whole. The service may have
 * revoked the old token, so what the error's `rawBody` has is used, also where the response was cut off behind it.
 */
export function recordIn(failure: unknown): unknown {
  const text = failure instanceof AutomationError ? failure.rawBody : undefined;
  return text === undefined ? undefined : parseTorn(text);
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
  return [text, `${text}}`, `${text.slice(0, lastComma)}}`].map(parseJson).find((parsed) => parsed !== undefined);
}

/** The fields of a token to store, so that it can be used and rotated later. A `CreatedToken` can be passed as it is. */
export interface StoredToken {
  /** The token record's id. */
  id: string;
  /** The full token. */
  plaintext: string;
  /** When it expires: an ISO 8601 timestamp, as the service sent it. */
  expires_at: string;
}

/** A replacement as the service sent it: the fields to store, and the others of its record. */
export interface RotatedToken extends StoredToken {
  /** The label chosen at creation. */
  name?: string;
  /** The public part of the token, its middle segment. */
  key_id?: string;
  /** Rights of the token: strings of the form `<resource>:<action>`. */
  scopes?: string[];
}
