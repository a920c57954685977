import { isRecord } from "./checks.ts";
import { Refusal } from "./refusal.ts";

/** Reading what a request brought: each function gives a valid value or throws a {@link Refusal}. */

/** The JSON object in a body. */
export function readObject(bytes: Uint8Array | undefined): Record<string, unknown> {
  const parsed = parse(bytes ?? new Uint8Array());
  if (!isRecord(parsed)) throw new Refusal("malformedBody", "the request body must be a JSON object");
  return parsed;
}

/** A required string that is not empty. */
export function readString(body: Record<string, unknown>, field: string): string {
  const value = body[field];
  if (typeof value === "string" && value !== "") return value;
  throw new Refusal("invalidField", `${field} is required and must be a non-empty string`);
}

/** An array of strings; absent, it is empty. */
export function readStrings(body: Record<string, unknown>, field: string): string[] {
  const value = body[field] ?? [];
  if (Array.isArray(value) && value.every((item): item is string => typeof item === "string")) return value;
  throw new Refusal("invalidField", `${field} must be an array of strings`);
}

/** An integer from 1 to `max`, or `undefined` where it is absent. */
export function readCount(body: Record<string, unknown>, field: string, max: number): number | undefined {
  const value = body[field];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Refusal("invalidField", `${field} must be an integer from 1 to ${max}`);
}

/** The page size: any integer, clamped to 1..200; absent, 50. */
export function readLimit(query: URLSearchParams): number {
  const value = query.get("limit");
  if (value === null) return 50;
  if (!/^[+-]?\d+$/.test(value)) throw new Refusal("invalidField", "limit must be an integer");
  return Math.min(Math.max(Number(value), 1), 200);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal("malformedBody", "the request body is not valid JSON in UTF-8");
  }
}
