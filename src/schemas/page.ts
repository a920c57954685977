import * as z from "zod/mini";
import type { Page } from "../models.ts";
import { issuesOf } from "./foreign-issues.ts";
import { nonEmpty, wellFormed } from "./rules.ts";
import { isPromise, type StandardResult, type StandardSchema } from "./standard-schema.ts";
import { type Checked, type Validator, validator, zodValidator } from "./validator.ts";

const envelope = z.object({
  data: z.array(z.unknown()),
  next_cursor: z.nullable(z.string().check(nonEmpty, wellFormed)),
});

/** The list envelope alone, whatever its items are. */
export const PageEnvelopeSchema: Validator<Page<unknown>> = zodValidator<Page<unknown>>(envelope);

/**
 * The list envelope around items of a schema: `{ data, next_cursor }`, where `next_cursor` is a non-empty string, or
 * `null` on the last page and nowhere else (contract, section 2). The items may be described by any Standard Schema.
 *
 * @example
 * const page = pageOf(ProjectSchema).parse(JSON.parse(text));
 */
export function pageOf<Item>(item: StandardSchema<Item>): Validator<Page<Item>> {
  return validator((value) => {
    const page = PageEnvelopeSchema.safeParse(value);
    if (!page.success) return { issues: page.error.issues };
    const results = Array.from(page.data.data, (entry) => item["~standard"].validate(entry));
    return results.some(isPromise)
      ? Promise.all(results.map(async (result) => result)).then((settled) => withItems(item, page.data, settled))
      : withItems(item, page.data, results as StandardResult<Item>[]); // none of them is a promise
  });
}

function withItems<Item>(
  schema: StandardSchema<Item>,
  page: Page<unknown>,
  results: readonly StandardResult<Item>[],
): Checked<Page<Item>> {
  const issues = results.flatMap((result, index) =>
    result.issues === undefined
      ? []
      : issuesOf(schema, result.issues, page.data[index]).map(({ path, message }) => ({
          path: ["data", index, ...path],
          message,
        })),
  );
  if (issues.length > 0) return { issues };
  const passed = results as readonly Extract<StandardResult<Item>, { issues?: undefined }>[]; // none of them has an issue
  return { value: { ...page, data: passed.map(({ value }) => value) } };
}
