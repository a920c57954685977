import { describe, expect, test } from "vitest";
import { Client } from "../../../../src/client/index.ts";
import { createEmulator } from "../../../../src/testing/index.ts";
import { gate } from "../../../support/promises.ts";

type Made = AsyncGenerator<unknown, void, undefined>;
const MADE: readonly (readonly [string, (client: Client) => Made])[] = [
  ["items", (client) => client.projects.list({ limit: 1 })[Symbol.asyncIterator]()],
  ["pages", (client) => client.projects.list({ limit: 1 }).pages()],
  ["a watch", (client) => client.sessions.watch("s")],
];
const OVER = { done: true, value: undefined };
/** All async iterators of this platform inherit from it, and it has no name of its own on most. */
const PLATFORM = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}.prototype)) as object;

const service = () => {
  const emulator = createEmulator({ projects: [{ name: "a", sessions: [{ id: "s" }] }, { name: "b" }, { name: "c" }] });
  const { baseUrl, token, fetch } = emulator;
  return { emulator, client: new Client({ baseUrl, token, fetch }) };
};

describe.each(MADE)("the iterator of %s", (_, make) => {
  test("inherits from the platform's async iterators", () => {
    const made = make(service().client);
    expect(Object.prototype.isPrototypeOf.call(PLATFORM, made)).toBe(true);
  });

  test("ends with the block of an await using", async () => {
    const { emulator, client } = service();
    let left: Made;
    {
      await using made = make(client);
      left = made;
      expect(await made.next()).toMatchObject({ done: false });
    }
    expect(await left.next()).toEqual(OVER);
    expect(emulator.requests).toHaveLength(1);
  });

  test("cancels what is in flight at the end of the block", async () => {
    const { emulator, client: sent } = service();
    const asked = gate();
    const cancelled = gate();
    const fetch: typeof globalThis.fetch = (__, init) => {
      asked.open();
      init?.signal?.addEventListener("abort", () => cancelled.open());
      return new Promise(() => {}); // it does not heed the signal
    };
    let pending: Promise<unknown>;
    {
      await using made = make(sent.withOptions({ fetch }));
      pending = made.next();
      await asked.opened;
    }
    await cancelled.opened;
    expect(await pending).toEqual(OVER);
    expect(emulator.requests).toEqual([]);
  });
});
