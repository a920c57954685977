import { invalid } from "../checks/invalid-input.ts";
import { isRecord } from "../checks/values.ts";

/** Options of `fetch` beside the request itself, such as `dispatcher` or `next`. */
export type FetchOptions = Readonly<Record<string, unknown>>;

export function parseFetchOptions(options: FetchOptions): FetchOptions {
  for (const own of ["method", "headers", "body", "signal", "redirect", "credentials"]) {
    if (Object.hasOwn(options, own)) invalid(`fetchOptions must not set ${own}: the client decides it`);
  }
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/**
 * The options for a request that no cache may answer or keep: without `next`, `cache`, and members of `cf` that begin with
 * `cache`. Where `next` or `cache` was there, its platform knows `cache: "no-store"`.
 */
export function withoutCaches({ next, cache, cf, ...others }: FetchOptions): FetchOptions {
  const isCached = next !== undefined || cache !== undefined;
  return {
    ...others,
    ...(cf !== undefined && { cf: isRecord(cf) ? membersWithoutCache(cf) : cf }),
    ...(isCached && { cache: "no-store" }),
  };
}

function membersWithoutCache(cf: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(cf).filter(([name]) => !name.startsWith("cache")));
}
