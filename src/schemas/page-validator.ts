import * as z from "zod/v4-mini";
import type { Page } from "../models.ts";
import { pageOf } from "./records.ts";
import { isPromise, isValid, type StandardIssue, type StandardResult, type StandardSchema } from "./standard-schema.ts";
import { validate, validatorOf } from "./validator.ts";

/** Items that a page may have; the service sends at most 200. */
const MAX_ITEMS = 10_000;

// Looked at before the items are: validating a million of them would block the process.
const withinBounds = z.unknown().check(
  z.refine((page) => !(typeof page === "object" && page !== null && "data" in page && isTooLong(page.data)), {
    path: ["data"],
    error: `expected at most ${MAX_ITEMS} items`,
    abort: true,
  }),
);

const isTooLong = (data: unknown): boolean => Array.isArray(data) && data.length > MAX_ITEMS;

const envelope = z.pipe(withinBounds, pageOf(z.unknown()));

/** Validates the list envelope alone, whatever its items are. */
export const pageEnvelopeValidator: StandardSchema<Page<unknown>> = validatorOf<Page<unknown>>(envelope);

/** Validates a page of our own records, in one call of zod. */
export function recordPageValidator<Item>(record: z.ZodMiniType<Item>): StandardSchema<Page<Item>> {
  return validatorOf<Page<Item>>(z.pipe(withinBounds, pageOf(record)));
}

/** Validates a page whose items are validated by a schema of any library, one after the other. */
export function pageValidator<Item>(item: StandardSchema<Item>): StandardSchema<Page<Item>> {
  const { vendor } = item["~standard"];
  return { "~standard": { version: 1, vendor, validate: (value) => validatePage(item, value) } };
}

async function validatePage<Item>(item: StandardSchema<Item>, value: unknown): Promise<StandardResult<Page<Item>>> {
  const page = validate<Page<unknown>>(envelope, value);
  if (!isValid(page)) return page;
  const data: Item[] = [];
  const issues: StandardIssue[] = [];
  for (const [index, received] of page.value.data.entries()) {
    const validated = item["~standard"].validate(received);
    const result = isPromise(validated) ? await validated : validated;
    if (isValid(result)) data.push(result.value);
    else for (const { path = [], message } of result.issues) issues.push({ path: ["data", index, ...path], message });
  }
  return issues.length > 0 ? { issues } : { value: { ...page.value, data }, issues: undefined };
}
