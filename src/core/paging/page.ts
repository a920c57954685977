import * as z from "zod/v4-mini";
import { type StandardIssue, type StandardSchema, standard } from "../call/standard-schema.ts";
import { custom, validatorOf } from "../call/zod-schema.ts";
import { isPromise } from "../checks/values.ts";

/** One page of a list, as the service sends it. */
export interface Page<Item> {
  /** The items. There may be fewer than `limit`, or none, although another page follows. */
  data: Item[];
  /** The cursor of the next page; `null` on the last one. */
  next_cursor: string | null;
}

// A lone surrogate has no UTF-8, so it could not be sent back. (With the flag, the halves of a pair do not match.)
const CURSOR = /^\P{Surrogate}+$/u;
const nextCursor = custom<string | null>(
  "a non-empty string of well-formed Unicode, or null at the end of the list",
  (value) => value === null || (typeof value === "string" && CURSOR.test(value)),
);

export function pageValidatorOf<Item>(record: z.ZodMiniType<Item>): StandardSchema<Page<Item>> {
  return validatorOf(z.object({ data: z.array(record), next_cursor: nextCursor }));
}

const anything = custom<unknown>("", () => true);

/** Validates the list envelope alone, whatever its items are. */
export const pageEnvelopeValidator: StandardSchema<Page<unknown>> = pageValidatorOf(anything);

/** Validates a page whose items are validated by a schema of any library, one after the other. */
export function pageValidator<Item>(item: StandardSchema<Item>): StandardSchema<Page<Item>> {
  const { vendor } = item["~standard"];
  return standard(async (value) => {
    const page = await pageEnvelopeValidator["~standard"].validate(value);
    if (page.issues !== undefined) return page;
    const data: Item[] = [];
    const issues: StandardIssue[] = [];
    for (const [index, received] of page.value.data.entries()) {
      const validated = item["~standard"].validate(received);
      const result = isPromise(validated) ? await validated : validated;
      if (result.issues === undefined) data.push(result.value);
      else for (const { path = [], message } of result.issues) issues.push({ path: ["data", index, ...path], message });
    }
    // A schema may refuse an item without an issue.
    if (data.length === page.value.data.length) return { value: { ...page.value, data }, issues: undefined };
    const whole = data.length === 0 ? await item["~standard"].validate(value) : undefined;
    const isOfPage = whole !== undefined && whole.issues === undefined;
    return { issues: isOfPage ? [{ path: ["schema"], message: "must be of one item, not of a page" }] : issues };
  }, vendor);
}
