import * as z from "zod/v4-mini";

/** The cursor of the next page: a non-empty string, or `null` on the last page and nowhere else (API documentation, section 2). */
export const nextCursor = z.nullable(
  // A lone surrogate has no UTF-8, so it could not be sent back. (With the flag, the halves of a pair do not match.)
  z.string().check(z.regex(/^\P{Surrogate}+$/u)),
);

/**
 * The list envelope around items of a zod schema: `{ data, next_cursor }`.
 *
 * @example
 * const page = pageOf(ProjectSchema).parse(JSON.parse(text));
 */
export function pageOf<Item extends z.core.SomeType>(item: Item) {
  return z.looseObject({ data: z.array(item), next_cursor: nextCursor });
}
