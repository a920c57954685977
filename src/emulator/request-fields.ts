import { isRecord } from "../core/checks/values.ts";
import type { RefusalReason } from "./conventions.ts";
import type { ResolvedConventions } from "./resolve-conventions.ts";

/** Why the service refuses a request; it becomes a status and a code. Never leaves the emulator. */
export class Refusal extends Error {
  readonly reason: RefusalReason;
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: RefusalReason, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.reason = reason;
    this.headers = headers;
  }
}

/** The JSON object in a request body. This and the functions below throw a {@link Refusal} for an invalid value. */
export function parseObject(bytes: Uint8Array | undefined): Record<string, unknown> {
  const parsed = parse(bytes ?? new Uint8Array());
  if (!isRecord(parsed)) throw new Refusal("malformedBody", "the request body must be a JSON object");
  return parsed;
}

/** A required string that is not empty. */
export function parseString(body: Record<string, unknown>, field: string): string {
  const value = body[field];
  if (typeof value === "string" && value !== "") return value;
  throw new Refusal("invalidField", `${field} is required and must be a non-empty string`);
}

/** An array of strings; an absent one is empty. */
export function parseStrings(body: Record<string, unknown>, field: string): string[] {
  const value = body[field] ?? [];
  if (Array.isArray(value) && value.every((item): item is string => typeof item === "string")) return value;
  throw new Refusal("invalidField", `${field} must be an array of strings`);
}

/** An integer from 1 to `max`, or `undefined` if it is absent. */
export function parseCount(body: Record<string, unknown>, field: string, max: number): number | undefined {
  const value = body[field];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Refusal("invalidField", `${field} must be an integer from 1 to ${max}`);
}

/** The page size: an integer, clamped to 1..200 unless the conventions refuse it; absent, 50. */
export function parseLimit(query: URLSearchParams, conventions: ResolvedConventions): number {
  const value = query.get("limit");
  if (value === null) return 50;
  if (!/^[+-]?\d+$/.test(value)) throw new Refusal("invalidField", "limit must be an integer");
  const limit = Number(value);
  for (const [reason, outside] of [
    ["limitTooSmall", limit < 1],
    ["limitTooLarge", limit > 200],
  ] as const) {
    if (outside && conventions[reason] === "refuse") throw new Refusal(reason, "limit must be from 1 to 200");
  }
  return Math.min(Math.max(limit, 1), 200);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal("malformedBody", "the request body is not valid JSON in UTF-8");
  }
}
