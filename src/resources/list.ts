import { argument, BOOLEAN } from "../check.ts";
import type { Page } from "../models.ts";
import { Paginator } from "../paging/paginator.ts";
import { copyOptions } from "../request/call-options.ts";
import type { CallOptions, Operation, Send, WalkTally } from "../request/operation.ts";
import type { Path } from "../request/path.ts";
import type { Query } from "../request/query.ts";
import { pageEnvelopeValidator, pageValidator } from "../schemas/page-validator.ts";
import type { StandardSchema } from "../schemas/standard-schema.ts";
import type { Scope } from "../scopes.ts";
import { refuseParams } from "./inputs.ts";

/** The last argument of lists. */
export interface ListOptions extends CallOptions {
  /**
   * Asks for the next page while one is being consumed.
   *
   * @default false
   */
  prefetch?: boolean | undefined;
}

const OWN_OPTIONS = { prefetch: BOOLEAN };

/** A list operation as data. `query` holds the `cursor` of the start, if there is one. */
export interface ListOperation<Item> {
  readonly name: string;
  /** What a `PaginationError` names it by; `name` without one. */
  readonly label?: string;
  readonly path: Path;
  readonly query: Query;
  readonly item: StandardSchema<Item>;
  readonly scope?: Scope;
}

/**
 * A paginator over a list operation. Arguments are read and checked now, so that changing them later changes nothing;
 * invalid ones reject the first request of the list, since `list` itself never throws.
 */
export function paginate<Item>(
  send: Send,
  describe: () => ListOperation<Item>,
  options: ListOptions | undefined,
): Paginator<Item> {
  const prepared = deferErrors(() => {
    const operation = describe();
    const what = `${operation.name}: options`;
    refuseParams(options, what);
    const { prefetch = false, signal, ...callOptions } = copyOptions(options, what, OWN_OPTIONS);
    return { operation, schema: pageValidator(operation.item), prefetch, signal, callOptions };
  });
  return new Paginator(() => {
    const { operation, schema, prefetch, signal, callOptions } = prepared();
    const { name, label = name, path, scope } = operation;
    const { cursor, ...query } = operation.query;
    const start = Object.hasOwn(operation.query, "cursor") ? cursor : undefined;
    const page = {
      name,
      method: "GET",
      path,
      schema,
      essentials: pageEnvelopeValidator,
      answer: "json",
      scope,
    } as const;
    const tally = tallyOf<Item>();
    return {
      label,
      path,
      start: typeof start === "string" ? start : null,
      prefetch,
      signal,
      fetch: (next, walkSignal) =>
        send(() => ({ ...page, query: next === null ? query : { ...query, cursor: next }, tally }), {
          ...callOptions,
          signal: walkSignal,
        }),
    };
  });
}

/** Counts the pages, items and waits of a walk. */
function tallyOf<Item>(): NonNullable<Operation<Page<Item>>["tally"]> {
  let walk: WalkTally = { pages: 0, items: 0, waitedMs: 0 };
  return ({ data }, waitedMs) => {
    walk = { pages: walk.pages + 1, items: walk.items + data.length, waitedMs: walk.waitedMs + waitedMs };
    return walk;
  };
}

/** Runs `check` now, and returns what it returned or throws what it threw whenever it is asked. */
function deferErrors<Result>(check: () => Result): () => Result {
  try {
    const result = argument.guarded(check);
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
