/** The token provider: what it returns is for one call alone, and so is a renewal; others wait for its end, and ask for themselves. */
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { Deadline } from "../../../../src/core/time/deadline.ts";
import { ProviderToken } from "../../../../src/core/token/provider-token.ts";
import type { TokenContext } from "../../../../src/core/token/token-source.ts";
import { fakeTime, pass } from "../../../support/fake-time.ts";

fakeTime();

/** A provider whose calls are settled by the test. */
function manual() {
  const calls: { readonly context: TokenContext; readonly settle: (token: string) => void }[] = [];
  const token = new ProviderToken((context) => new Promise((resolve) => void calls.push({ context, settle: resolve })));
  const read = (rejected?: string, limit = Deadline.of(Number.POSITIVE_INFINITY)) =>
    token.tokenFor({
      rejected,
      rejectedBefore: undefined,
      isRotation: false,
      isPaused: () => false,
      inTime: (work) => work(limit),
    });
  const rejected = () => calls.map(({ context }) => context.rejected);
  return { calls, token, read, rejected };
}

describe("the token of a call", () => {
  test("is asked for by each call, and is that of the call that asked", async () => {
    const { calls, read, token } = manual();
    const reads = [read(), read(), read()];
    for (const [index, { settle }] of calls.reverse().entries()) settle(`t${index}`);
    expect(await Promise.all(reads)).toEqual(["t2", "t1", "t0"]);
    expect(token.current, "the latest").toBe("t2");
  });

  test("that is not valid is refused, and does not become the latest", async () => {
    const { calls, read, token } = manual();
    const reading = read();
    calls[0]?.settle("with space");
    await expect(reading).rejects.toThrow(
      "the token provider returned no usable token: it must not contain white space",
    );
    expect(token.current).toBe("");
  });

  test("is asked for with a signal that aborts when the call ends", () => {
    const { calls, read } = manual();
    const limit = Deadline.of(Number.POSITIVE_INFINITY);
    void read(undefined, limit);
    expect(calls[0]?.context.signal.aborted).toBe(false);
    limit.end();
    expect(calls[0]?.context.signal.aborted).toBe(true);
  });
});

describe("a renewal", () => {
  test("answers the call that asked; others with the same token wait for its end, and ask plainly", async () => {
    const { calls, read, rejected } = manual();
    const reads = [read("t1"), read("t1"), read(), read("t0")];
    await pass(0);
    expect(rejected()).toEqual(["t1", undefined, "t0"]);
    for (const [index, { settle }] of calls.entries()) settle(`n${index}`);
    await pass(0);
    expect(rejected()).toEqual(["t1", undefined, "t0", undefined]);
    calls[3]?.settle("n3");
    expect(await Promise.all(reads)).toEqual(["n0", "n3", "n1", "n2"]);
  });

  test("spares calls a renewal of their own within a minute after it, and not later", async () => {
    const { calls, read, rejected } = manual();
    const first = read("t1");
    await pass(5_000);
    calls[0]?.settle("t2");
    expect(await first).toBe("t2");
    await pass(59_000);
    const second = read("t1");
    await pass(0);
    calls[1]?.settle("t2");
    expect(await second).toBe("t2");
    await pass(1_001);
    void read("t1");
    expect(rejected()).toEqual(["t1", undefined, "t1"]);
  });

  test.each([
    ["returns the same token again", "t1"],
    ["fails", "no token"],
  ])("that %s lets the others renew at once, side by side", async (_, returned) => {
    const { calls, read, rejected } = manual();
    const reads = Promise.allSettled([read("t1"), read("t1"), read("t1")]);
    calls[0]?.settle(returned);
    await pass(0);
    for (const { settle } of calls.slice(1)) settle("t1");
    await pass(0);
    expect(rejected()).toEqual(["t1", undefined, undefined, "t1", "t1"]);
    for (const [index, { settle }] of calls.slice(3).entries()) settle(`n${index}`);
    expect(await reads).toMatchObject([{}, { value: "n0" }, { value: "n1" }]);
  });

  test("is aborted when its call ends, and the others ask for themselves", async () => {
    const { calls, read, rejected } = manual();
    const limit = Deadline.of(Number.POSITIVE_INFINITY);
    const abandoned = read("t1", limit);
    const other = read("t1");
    await pass(0);
    limit.end();
    expect(calls[0]?.context.signal.aborted).toBe(true);
    calls[0]?.settle("late");
    await abandoned;
    await pass(0);
    calls[1]?.settle("t2");
    expect(await other).toBe("t2");
    expect(rejected()).toEqual(["t1", undefined]);
  });

  test.each([
    ["its limit", 30_000, 30_000],
    ["five minutes, without one", Number.POSITIVE_INFINITY, 300_000],
  ])("that hangs is given up by those who wait, and by the next call, after %s", async (_, limitMs, endsMs) => {
    const { calls, read, rejected } = manual();
    const limit = Deadline.of(limitMs);
    void read("t1", limit);
    limit.release(); // its call was dropped, with its timers
    const waiting = read("t1");
    await pass(endsMs - 1);
    expect(calls).toHaveLength(1);
    await pass(1);
    expect(rejected()).toEqual(["t1", undefined]);
    calls[1]?.settle("t2");
    expect(await waiting).toBe("t2");
    const next = read("t1");
    expect(rejected()).toEqual(["t1", undefined, "t1"]);
    calls[2]?.settle("t3");
    expect(await next).toBe("t3");
  });

  test("leaves no listener on the signal", async () => {
    const { calls, read } = manual();
    const limit = Deadline.of(Number.POSITIVE_INFINITY);
    const settled = read("t1", limit);
    calls[0]?.settle("t2");
    await settled;
    expect(getEventListeners(limit.signal, "abort")).toHaveLength(0);
  });
});
