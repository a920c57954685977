import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { AbortError, Client, type FetchFunction } from "../../../../src/client/index.ts";
import { onAbort } from "../../../../src/core/time/deadline.ts";
import { shareOf } from "../../../support/all-tests.ts";

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;
const hanging: FetchFunction = () => new Promise(() => undefined);

describe("listeners of a signal", () => {
  test("each runs once, in the order in which they were added", () => {
    const controller = new AbortController();
    const ran: number[] = [];
    for (const nth of [1, 2, 3]) onAbort(controller.signal, () => void ran.push(nth));
    controller.abort();
    controller.abort();
    expect(ran).toEqual([1, 2, 3]);
  });

  test("one that was removed does not run, and the others do", () => {
    const controller = new AbortController();
    const ran: number[] = [];
    const [, second] = [1, 2, 3].map((nth) => onAbort(controller.signal, () => void ran.push(nth)));
    second?.();
    second?.();
    controller.abort();
    expect(ran).toEqual([1, 3]);
  });

  test("one that is removed by another while they run does not run", () => {
    const controller = new AbortController();
    const ran: number[] = [];
    let removeSecond = (): void => {};
    onAbort(controller.signal, () => removeSecond());
    removeSecond = onAbort(controller.signal, () => void ran.push(2));
    controller.abort();
    expect(ran).toEqual([]);
  });

  test("at a signal that has aborted it runs at once", () => {
    let ran = 0;
    onAbort(AbortSignal.abort(), () => {
      ran += 1;
    });
    expect(ran).toBe(1);
  });

  test("the platform has one listener for all, and none when the last is removed", () => {
    const { signal } = new AbortController();
    const remove = Array.from({ length: 100 }, () => onAbort(signal, () => {}));
    expect(listenersOf(signal)).toBe(1);
    for (const one of remove.slice(1)) one();
    expect(listenersOf(signal)).toBe(1);
    remove[0]?.();
    expect(listenersOf(signal)).toBe(0);
    onAbort(signal, () => {})();
    expect(listenersOf(signal)).toBe(0);
  });
});

const CROWD = shareOf(20_000);

describe(`${CROWD} pending calls on one signal`, () => {
  test("one listener, no warning, and the abort settles all", async () => {
    const controller = new AbortController();
    const client = new Client({ baseUrl: "https://service.example.com/api/v1", token: "t", fetch: hanging });
    const calls = Array.from({ length: CROWD }, () =>
      client.sessions.get("1", { signal: controller.signal }).catch((error: unknown) => error),
    );
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(listenersOf(controller.signal)).toBe(1);
    controller.abort("enough");
    const settled = await Promise.all(calls);
    expect(settled.every((error) => error instanceof AbortError && error.cause === "enough")).toBe(true);
    expect(listenersOf(controller.signal)).toBe(0);
  });
});

describe("a signal that is less than an AbortSignal", () => {
  const sent: string[] = [];
  const fetch: FetchFunction = async (url) => {
    sent.push(url);
    return new Response('{"id":"1","state":"on"}');
  };
  const client = new Client({ baseUrl: "https://service.example.com/api/v1", token: "t", fetch });
  const get = async (signal: unknown): Promise<unknown> =>
    client.sessions.get("1", { signal: signal as AbortSignal }).catch((error: unknown) => error);

  test.each([
    ["has no removeEventListener", { aborted: false, addEventListener: () => {} }],
    ["has no addEventListener", { aborted: false, removeEventListener: () => {} }],
    ["has them, but not as functions", { aborted: false, addEventListener: 1, removeEventListener: 1 }],
    ["throws when it is asked", Object.defineProperty({}, "aborted", { get: () => fail() })],
    ["throws when it is listened to", { aborted: false, addEventListener: fail, removeEventListener: () => {} }],
  ])("one that %s is refused with an error of ours, and nothing is sent", async (_, signal) => {
    expect(await get(signal)).toMatchObject({ kind: "argument", outcome: "not_sent" });
    expect(sent).toEqual([]);
  });
});

function fail(): never {
  throw new Error("no");
}
