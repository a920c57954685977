import { afterEach, describe, expect, test } from "vitest";
import { Client, path } from "../../../../src/client/index.ts";
import { createEmulator } from "../../../../src/testing/index.ts";
import { drain, gate } from "../../../support/promises.ts";

type Made = AsyncGenerator<unknown, void, undefined>;
const begun = (iterable: AsyncIterable<unknown>): Made => iterable[Symbol.asyncIterator]() as Made; // which all of them have
const MADE: readonly (readonly [string, (client: Client) => Made])[] = [
  ["items", (client) => client.projects.list({ limit: 1 })[Symbol.asyncIterator]()],
  [
    "items of a custom list",
    (client) => client.paginate({ path: path`/projects`, query: { limit: 1 }, schema: ANY })[Symbol.asyncIterator](),
  ],
  ["pages", (client) => client.projects.list({ limit: 1 }).pages()],
  ["a loop over pages", (client) => begun(client.projects.list({ limit: 1 }).pages())],
  ["a watch", (client) => client.sessions.watch("s")],
  ["a loop over a watch", (client) => begun(client.sessions.watch("s"))],
];
const ANY = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as const;
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

describe("where the platform has helpers", () => {
  afterEach(() => void Reflect.deleteProperty(PLATFORM, "take"));

  test.each(MADE)("the iterator of %s has them", async (_, make) => {
    Object.defineProperty(PLATFORM, "take", {
      configurable: true,
      async *value(this: Made, most: number) {
        for (let taken = 0; taken < most; taken += 1) yield (await this.next()).value;
        await this.return();
      },
    });
    const { emulator, client } = service();
    const made = make(client) as Made & { take(most: number): AsyncIterable<unknown> }; // defined above
    expect((await drain(made.take(1))).items).toHaveLength(1);
    expect(await made.next()).toEqual(OVER);
    expect(emulator.requests).toHaveLength(1);
  });
});
