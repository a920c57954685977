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

/** What lists take as their last argument. */
export interface ListOptions extends CallOptions {
  /** Asks for the next page while one is being consumed. Default `false`. */
  prefetch?: boolean | undefined;
}

const OWN_OPTIONS = { prefetch: BOOLEAN };

/** A list operation as data. `query` holds the start's `cursor`, if it has one. */
export interface ListOperation<Item> {
  readonly name: string;
  readonly path: Path;
  readonly query: Query;
  readonly item: StandardSchema<Item>;
  readonly scope?: Scope;
}

/**
 * A paginator over a list operation. Arguments are looked at now, so that changing them later changes nothing; what is
 * wrong with them is told when the walk begins, since a list never throws.
 */
export function paginate<Item>(
  send: Send,
  describe: () => ListOperation<Item>,
  options: ListOptions | undefined,
): Paginator<Item> {
  const prepared = attempt(() => {
    const operation = describe();
    const {
      prefetch = false,
      signal,
      ...callOptions
    } = copyOptions(options, `${operation.name}: options`, OWN_OPTIONS);
    return { operation, schema: pageValidator(operation.item), prefetch, signal, callOptions };
  });
  return new Paginator(() => {
    const { operation, schema, prefetch, signal, callOptions } = prepared();
    const { cursor: start, ...query } = operation.query;
    const tally = tallyOf<Item>();
    return {
      start: typeof start === "string" ? start : null,
      prefetch,
      signal,
      fetch: (cursor, walkSignal) =>
        send(
          () => ({ ...pageOperation(operation, schema, { ...query, ...(cursor === null ? {} : { cursor }) }), tally }),
          { ...callOptions, signal: walkSignal },
        ),
    };
  });
}

function pageOperation<Item>(
  { name, path, scope }: ListOperation<Item>,
  schema: StandardSchema<Page<Item>>,
  query: Query,
): Operation<Page<Item>> {
  return { name, method: "GET", path, query, schema, essentials: pageEnvelopeValidator, answer: "json", scope };
}

/** Counts what a walk has come to, page by page. */
function tallyOf<Item>(): NonNullable<Operation<Page<Item>>["tally"]> {
  let walk: WalkTally = { pages: 0, items: 0, waitedMs: 0 };
  return ({ data }, waitedMs) => {
    walk = { pages: walk.pages + 1, items: walk.items + data.length, waitedMs: walk.waitedMs + waitedMs };
    return walk;
  };
}

// Looks now, and throws later what guarded has thrown.
function attempt<Result>(look: () => Result): () => Result {
  try {
    const result = argument.guarded(look);
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
