import { type ObjectSchema, validator } from "../checks/validators.ts";
import { isRecord } from "../checks/values.ts";
import { flawOfToken, type StoredToken } from "./token-format.ts";

/** The fields of a stored token that is of use. */
export const TOKEN: ObjectSchema<StoredToken> = {
  id: validator("a non-empty string", (value) => typeof value === "string" && value !== ""),
  plaintext: validator("a token", (value) => flawOfToken(value) === undefined),
  expires_at: validator(
    "an ISO 8601 timestamp",
    (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) && Number.isFinite(Date.parse(value)),
  ),
};

/** A token record as it came, without the fields of `StoredToken` that are of no use. It may be invalid or incomplete. */
export function usableFields(record: unknown): Partial<StoredToken> {
  if (!isRecord(record)) return {};
  const usable = Object.entries<unknown>({ ...record }).filter(
    ([key, value]) => !Object.hasOwn(TOKEN, key) || TOKEN[key as keyof StoredToken].accepts(value), // it has that key
  );
  return Object.fromEntries(usable) as Partial<StoredToken>; // as far as TOKEN says
}
