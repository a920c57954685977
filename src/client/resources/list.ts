import type { Send } from "../call/operation.ts";
import type { Path } from "../call/path.ts";
import { encodeQuery, type Query } from "../call/query.ts";
import { type CallOptions, readOptions } from "../call/settings.ts";
import { parseOptions } from "../checks/parse-options.ts";
import { BOOLEAN, type ObjectSchema, type Validator, validator } from "../checks/validators.ts";
import { annotate } from "../errors/automation-error.ts";
import type { Page } from "../models.ts";
import { Paginator } from "../paging/paginator.ts";
import type { PageSource } from "../paging/walk.ts";
import { pageEnvelopeValidator, type StandardSchema } from "../schemas/validators.ts";
import type { Scope } from "../scopes.ts";

/** The last argument of lists. */
export interface ListOptions extends CallOptions {
  /**
   * Asks for the next page while one is being consumed.
   *
   * @default false
   */
  prefetch?: boolean | undefined;
}

/** The parameters of lists. */
export interface ListParams {
  /** Page size, a safe integer. Sent as given; the service clamps it to 1..200, and takes 50 without one. */
  limit?: number | undefined;
  /** Where to go on: the `next_cursor` of a page, or the `cursor` of a walk's error. */
  cursor?: string | undefined;
}

/** `null`, the cursor of the last page, means that a walk has ended: from there it would start over. */
export const CURSOR: Validator = validator(
  "a non-empty string of well-formed Unicode, or none to begin",
  (value) => typeof value === "string" && value !== "" && !/\p{Surrogate}/u.test(value),
);

const LIST_PARAMS: ObjectSchema<ListParams> = {
  limit: validator("a safe integer", Number.isSafeInteger),
  cursor: CURSOR,
};

/** The query of a list. */
export function listQuery(params: ListParams | undefined): Query {
  return parseOptions(params, "params", LIST_PARAMS);
}

/** A list operation as data; `label` is the name where it is left out. */
export interface ListOperation<Item> {
  readonly label?: string;
  readonly path: Path;
  /** With the `cursor` of the start, if there is one. */
  readonly query: Query;
  readonly schema: StandardSchema<Page<Item>>;
  readonly scope?: Scope;
  /** The last argument of the method, and what was passed behind it. */
  readonly last: readonly [options?: ListOptions | undefined];
}

/**
 * A paginator over a list operation. Arguments are read and checked now, so that changing them later changes nothing;
 * invalid ones reject the first request of the list, since `list` itself never throws.
 */
export function paginate<Item>(send: Send, name: string, describe: () => ListOperation<Item>): Paginator<Item> {
  return new Paginator(deferErrors(() => send.check(name, () => sourceOf(send, name, describe()))));
}

function sourceOf<Item>(
  send: Send,
  name: string,
  { label = name, path, query, schema, scope, last }: ListOperation<Item>,
): PageSource<Item> {
  const { cursor: start, ...others } = query;
  const { prefetch = false, ...options } = readOptions(last, { prefetch: BOOLEAN });
  const fixed = encodeQuery(others);
  const page = { label, method: "GET", path, schema, lenientSchema: pageEnvelopeValidator, scope, options } as const;
  return {
    operation: page,
    start: typeof start === "string" ? start : null, // which is what it was checked to be
    prefetch,
    check: send.check,
    fetch: async (cursor, origin) => {
      const query = cursor === null ? fixed : `${fixed && `${fixed}&`}${encodeQuery({ cursor })}`;
      try {
        return await send(name, () => ({ ...page, query }), origin);
      } catch (error) {
        throw annotate(error, "cursor", cursor);
      }
    },
  };
}

/** Runs `check` now, and resolves or rejects as it did whenever it is asked. */
export function deferErrors<Result>(check: () => Result): () => Promise<Result> {
  const checked = new Promise<Result>((resolve) => resolve(check()));
  checked.catch(() => {});
  return () => checked;
}
