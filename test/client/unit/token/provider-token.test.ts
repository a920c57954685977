import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { ProviderToken } from "../../../../src/client/token/provider-token.ts";
import type { TokenContext } from "../../../../src/client/token/token-source.ts";

/** A provider whose calls are settled by the test. */
function manual() {
  const calls: { readonly context: TokenContext; readonly settle: (token: string) => void }[] = [];
  const token = new ProviderToken((context) => new Promise((resolve) => void calls.push({ context, settle: resolve })));
  const listener = {
    seen: [] as string[],
    refresh: () => void listener.seen.push(token.current),
  };
  token.subscribe(listener);
  const read = (rejected?: string, signal = new AbortController().signal) => {
    const request = token.read(rejected);
    if (request === undefined) throw new Error("the provider is asked for each token");
    return request(signal);
  };
  return { calls, token, listener, read };
}

describe("a request in flight", () => {
  test("is shared by all calls that need a token before it settles", async () => {
    const { calls, read, token } = manual();
    const reads = [read(), read(), read()];
    expect(calls.map(({ context }) => context.rejected)).toEqual([undefined]);
    calls[0]?.settle("t1");
    expect(await Promise.all(reads)).toEqual(["t1", "t1", "t1"]);
    expect(token.current).toBe("t1");
    void read();
    expect(calls).toHaveLength(2);
  });

  test("is not shared by a call that received a 401 after it had begun", async () => {
    const { calls, read } = manual();
    const first = read();
    calls[0]?.settle("t1");
    await first;
    const unaware = read();
    const [aware, alsoAware] = [read("t1"), read("t1")];
    expect(calls.slice(1).map(({ context }) => context.rejected)).toEqual([undefined, "t1"]);
    calls[1]?.settle("t1");
    calls[2]?.settle("t2");
    expect(await Promise.all([unaware, aware, alsoAware])).toEqual(["t1", "t2", "t2"]);
  });

  test("is shared by a call that received a 401 with an older token than the current one", async () => {
    const { calls, read } = manual();
    const first = read();
    calls[0]?.settle("t2");
    await first;
    const reads = [read(), read("t1")];
    expect(calls.slice(1).map(({ context }) => context.rejected)).toEqual([undefined]);
    calls[1]?.settle("t2");
    expect(await Promise.all(reads)).toEqual(["t2", "t2"]);
  });

  test("that returns the token that was rejected is followed by one that says so, which calls share", async () => {
    const { calls, read } = manual();
    const first = read();
    calls[0]?.settle("t2");
    await first;
    const reads = [read("t1"), read("t1")];
    calls[1]?.settle("t1");
    await expect.poll(() => calls.length).toBe(3);
    expect(calls.slice(1).map(({ context }) => context.rejected)).toEqual([undefined, "t1"]);
    calls[2]?.settle("t2");
    expect(await Promise.all(reads)).toEqual(["t2", "t2"]);
  });

  test("that settles late does not restore an older token", async () => {
    const { calls, read, token, listener } = manual();
    const first = read();
    calls[0]?.settle("t1");
    await first;
    const slow = read();
    const replaced = read("t1");
    calls[2]?.settle("t2");
    await replaced;
    calls[1]?.settle("t1");
    expect(await slow).toBe("t1");
    expect(token.current).toBe("t2");
    expect(listener.seen).toEqual(["t1", "t2"]);
  });

  test("is aborted when the last call that waits for it ends, and is not shared from then on", async () => {
    const { calls, read } = manual();
    const [one, two] = [new AbortController(), new AbortController()];
    const abandoned = [read(undefined, one.signal), read(undefined, two.signal)];
    one.abort();
    expect(calls[0]?.context.signal.aborted).toBe(false);
    two.abort();
    expect(calls[0]?.context.signal.aborted).toBe(true);
    const next = read();
    calls[1]?.settle("t2");
    expect(await next).toBe("t2");
    calls[0]?.settle("t1");
    await Promise.all(abandoned);
  });

  test("leaves no listener on the signal", async () => {
    const { calls, read } = manual();
    const { signal } = new AbortController();
    const settled = read(undefined, signal);
    calls[0]?.settle("t1");
    await settled;
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

test("a token that is not valid is refused, and does not become the current one", async () => {
  const { calls, read, token, listener } = manual();
  const reading = read();
  calls[0]?.settle("with space");
  await expect(reading).rejects.toThrow("the token provider returned no usable token: it must not contain white space");
  expect([token.current, listener.seen]).toEqual(["", []]);
});
