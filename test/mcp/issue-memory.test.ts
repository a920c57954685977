/** Calls at the same moment, without the turns that a host takes between them. */
import { expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { ArgumentError } from "../../src/core/errors/classes.ts";
import { Deadline } from "../../src/core/time/deadline.ts";
import { IssueMemory } from "../../src/mcp/issue-memory.ts";

/** A service whose issues are counted, as a memory asks it. */
function serviceOf() {
  const memory = IssueMemory.of({} as Client); // a memory asks no more of a client than to be the same one
  let sent = 0;
  const create = async ({ again = false, tokens = ["pat_key_secret"], title = "x", fails = false } = {}) => {
    const deadline = Deadline.of(5_000);
    const send = async (beforeRequest: (token: string) => Promise<void>) => {
      for (const token of tokens) await beforeRequest(token);
      if (fails) throw new ArgumentError("refused", { outcome: "rejected" });
      sent += 1;
      return { number: sent, title: "x", status: "open" };
    };
    return memory.create(["web", title, "bug"], send, { again, deadline }).finally(() => deadline.release());
  };
  return { create, sent: () => sent };
}

test("of calls at one moment one is sent", async () => {
  const { create, sent } = serviceOf();
  const results = await Promise.all([create(), create(), create()]);
  expect(results.map(({ repeated }) => repeated)).toEqual([false, true, true]);
  expect(sent()).toBe(1);
});

test("calls with again: true are sent one after the other", async () => {
  const { create, sent } = serviceOf();
  const results = await Promise.all([create(), create({ again: true }), create({ again: true })]);
  expect(results.map(({ number }) => number)).toEqual([1, 2, 3]);
  expect(sent()).toBe(3);
});

test("an issue is that of the token that wrote it, and not of one that was refused in the same call", async () => {
  const { create } = serviceOf();
  await create({ tokens: ["refused", "valid"] });
  expect(await create({ tokens: ["valid"] })).toMatchObject({ number: 1, repeated: true });
  expect(await create({ tokens: ["refused"] })).toMatchObject({ number: 2, repeated: false });
});

test("a call that came to nothing is forgotten", async () => {
  const { create } = serviceOf();
  await expect(create({ fails: true })).rejects.toThrow("refused");
  expect(await create()).toMatchObject({ number: 1, repeated: false });
});

test("the latest 10,000 issues are remembered", async () => {
  const { create, sent } = serviceOf();
  for (let at = 0; at <= 10_000; at += 1) await create({ title: `${at}` });
  expect(await create({ title: "1" })).toMatchObject({ repeated: true });
  expect(await create({ title: "0" })).toMatchObject({ repeated: false });
  expect(sent()).toBe(10_002);
});
