/** The infinite query of docs/frameworks.md, with the real TanStack Query. */
import { InfiniteQueryObserver, QueryClient } from "@tanstack/query-core";
import { afterEach, expect, test } from "vitest";
import { Client, type Page, type Project } from "../../../src/client/index.ts";
import { createEmulator, type Emulator } from "../../../src/testing/index.ts";

const queries = new QueryClient();
afterEach(() => queries.clear());

function clientOf(emulator: Emulator): Client {
  const { baseUrl, token, fetch } = emulator;
  return new Client({ baseUrl, token, fetch, retry: { minDelayMs: 0 } });
}

/** The options that the guide shows, with pages of `limit`, and TanStack's own retries where `retry` says so. */
function projectPages(client: Client, { limit = 2, retry = false }: { limit?: number; retry?: number | false } = {}) {
  return {
    queryKey: ["projects"],
    queryFn: ({ pageParam, signal }: { pageParam: string | null; signal: AbortSignal }): Promise<Page<Project>> =>
      client.projects.list({ cursor: pageParam ?? undefined, limit }, { signal }).page(),
    initialPageParam: null as string | null, // TanStack Query infers the type of the cursor from it
    getNextPageParam: ({ next_cursor }: Page<Project>) => next_cursor,
    retry,
    retryDelay: 0,
  };
}

const countOf = (emulator: Emulator): number => emulator.requests.length;

test("pages follow next_cursor until it is null, one request each", async () => {
  const emulator = createEmulator({ projects: 5 });
  const observer = new InfiniteQueryObserver(queries, projectPages(clientOf(emulator)));
  let result = await observer.fetchNextPage();
  while (result.hasNextPage) result = await observer.fetchNextPage();

  expect(result.data?.pages.map(({ data }) => data.length)).toEqual([2, 2, 1]);
  expect(countOf(emulator)).toBe(3);
  expect(result.data?.pageParams).toEqual([
    null,
    ...(result.data?.pages.slice(0, -1) ?? []).map((page) => page.next_cursor),
  ]);
  observer.destroy();
});

test("a service that is down costs the client's three attempts, and twelve if TanStack Query retries as well", async () => {
  const emulator = createEmulator();
  emulator.fault({ operation: "projects.list", status: 500, times: Number.POSITIVE_INFINITY });
  const client = clientOf(emulator);
  await expect(queries.infiniteQuery(projectPages(client))).rejects.toMatchObject({ kind: "server" });
  expect(countOf(emulator)).toBe(3);

  queries.clear();
  await expect(queries.infiniteQuery(projectPages(client, { retry: 3 }))).rejects.toMatchObject({
    kind: "server",
  });
  expect(countOf(emulator)).toBe(3 + 12);
});

test("a cancelled query aborts its request", async () => {
  const emulator = createEmulator();
  emulator.fault({ operation: "projects.list", delayMs: Number.POSITIVE_INFINITY });
  const signals: AbortSignal[] = [];
  const client = new Client({
    baseUrl: emulator.baseUrl,
    token: emulator.token,
    fetch: (url, init) => {
      signals.push(init.signal);
      queueMicrotask(() => void queries.cancelQueries({ queryKey: ["projects"] }));
      return emulator.fetch(url, init);
    },
  });
  await expect(queries.infiniteQuery(projectPages(client))).rejects.toThrow();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});
