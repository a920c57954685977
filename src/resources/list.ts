import { BOOLEAN } from "../base/check.ts";
import type { Page } from "../models.ts";
import { Paginator } from "../paging/paginator.ts";
import type { CallOptions } from "../request/call-options.ts";
import type { Send } from "../request/operation.ts";
import { type CheckedOptions, readOptions } from "../request/settings.ts";
import type { Path, Query } from "../request/url.ts";
import type { StandardSchema } from "../schemas/standard-schema.ts";
import { pageEnvelopeValidator } from "../schemas/validators.ts";
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

type CheckedListOptions = CheckedOptions & { readonly prefetch?: boolean };

/** The options of a list, checked once for all of its pages. */
export function readListOptions(last: readonly [options?: ListOptions | undefined]): CheckedListOptions {
  return readOptions(last, { prefetch: BOOLEAN });
}

/** A list operation as data. `query` holds the `cursor` of the start, if there is one. */
export interface ListOperation<Item> {
  /** What a `PaginationError` names it by; the operation's name without one. */
  readonly label?: string;
  readonly path: Path;
  readonly query: Query;
  readonly schema: StandardSchema<Page<Item>>;
  readonly scope?: Scope;
  readonly options: CheckedListOptions;
}

/**
 * A paginator over a list operation. Arguments are read and checked now, so that changing them later changes nothing;
 * invalid ones reject the first request of the list, since `list` itself never throws.
 */
export function paginate<Item>(send: Send, name: string, describe: () => ListOperation<Item>): Paginator<Item> {
  const prepared = deferErrors(() => send.check(name, describe));
  return new Paginator(() => {
    const operation = prepared();
    const { label = name, path, schema, scope } = operation;
    const { prefetch = false, ...options } = operation.options;
    const { cursor, ...query } = operation.query;
    const start = Object.hasOwn(operation.query, "cursor") ? cursor : undefined;
    const walk = { pages: 0, items: 0, waitedMs: 0 };
    const page = { method: "GET", path, schema, essentials: pageEnvelopeValidator, scope, options, walk } as const;
    return {
      label,
      path,
      check: send.check,
      start: typeof start === "string" ? start : null,
      prefetch,
      fetch: (next, within) =>
        send(name, () => ({
          ...page,
          query: next === null ? query : { ...query, cursor: next },
          within,
        })),
    };
  });
}

/** Runs `check` now, and returns what it returned or throws what it threw whenever it is asked. */
export function deferErrors<Result>(check: () => Result): () => Result {
  try {
    const result = check();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
