import type { CallOptions } from "./call/call-options.ts";
import type { Caller } from "./call/operation.ts";
import { parseCallOptions } from "./call/settings.ts";
import type { StandardSchema } from "./call/standard-schema.ts";
import { namesOf } from "./checks/hints.ts";
import { BOOLEAN, INVALID, numbers, parseOptions, type Shape, type Validator, validator } from "./checks/validators.ts";
import { annotate } from "./errors/automation-error.ts";
import { type Page, pageEnvelopeValidator } from "./paging/page.ts";
import { Paginator } from "./paging/paginator.ts";
import type { PageSource } from "./paging/walk.ts";
import type { Path } from "./wire/path.ts";
import { encodeQuery } from "./wire/query.ts";

/** The last argument of lists. */
export interface ListOptions extends CallOptions {
  /**
   * Requests the next page while you work on this one.
   *
   * @default false
   */
  prefetch?: boolean | undefined;
}

/** The parameters of lists. */
export interface ListParams {
  /**
   * The most items of a page. The service limits it to 1 to 200.
   *
   * @default 50, by the service
   */
  limit?: number | undefined;
  /**
   * Where to go on: the `next_cursor` of a page, or the `cursor` of a list's error.
   *
   * @default the start
   */
  cursor?: string | undefined;
}

/** A cursor. `null`, that of the last page, means that the list has ended: from there it would start over. */
export const CURSOR: Validator<string> = validator(
  "a non-empty string of well-formed Unicode",
  (value) => (typeof value === "string" && value !== "" && !/\p{Surrogate}/u.test(value) ? value : INVALID),
  (value) => (value === null ? ": null marks the end of a list; leave the cursor out to begin" : undefined),
);

const LIST_PARAMS = namesOf("list", {
  limit: numbers("a safe integer", Number.isSafeInteger),
  cursor: CURSOR,
} satisfies Shape<ListParams>);

const LIST_OPTIONS = namesOf("call", { prefetch: BOOLEAN });

export function listQuery(params: ListParams | undefined): Pick<ListOperation<unknown>, "query" | "fields"> {
  return { query: parseOptions(params, "params", LIST_PARAMS), fields: Object.keys(LIST_PARAMS) };
}

/** A list operation as data; `label` is the name where it is left out. */
export interface ListOperation<Item> {
  readonly label?: string;
  readonly path: Path;
  /** With the `cursor` of the start, if there is one. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly schema: StandardSchema<Page<Item>>;
  readonly scope?: string;
  /** Sees the items of each page. */
  readonly received?: (items: readonly unknown[]) => void;
  readonly fields?: readonly string[];
  readonly options: ListOptions | undefined;
}

/**
 * A paginator over a list operation. Arguments are read and checked now, so that changing them later changes nothing;
 * invalid ones reject the first request of the list, since `list` itself never throws.
 */
export function paginate<Item>(caller: Caller, name: string, describe: () => ListOperation<Item>): Paginator<Item> {
  return new Paginator(deferErrors(() => caller.parse(name, () => sourceOf(caller, name, describe()))));
}

function sourceOf<Item>(
  caller: Caller,
  name: string,
  { label = name, path, query, fields, schema, scope, options: given, received }: ListOperation<Item>,
): PageSource<Item> {
  const { cursor: start, ...others } = query;
  const { prefetch = false, ...options } = parseCallOptions(given, LIST_OPTIONS);
  const fixed = encodeQuery(others);
  const lenientSchema = pageEnvelopeValidator;
  const page = { label, method: "GET", path, fields, schema, lenientSchema, scope, options } as const;
  return {
    operation: page,
    start: typeof start === "string" ? start : null, // which is what it was checked to be
    prefetch,
    parse: (...of) => caller.parse(...of),
    fetch: async (cursor, origin) => {
      const query = cursor === null ? fixed : `${fixed && `${fixed}&`}${encodeQuery({ cursor })}`;
      try {
        const success = await caller.call(name, () => ({ ...page, query }), origin);
        received?.(success.data.data);
        return success;
      } catch (error) {
        throw caller.holdsToken(cursor ?? "") ? error : annotate(error, "cursor", cursor);
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
