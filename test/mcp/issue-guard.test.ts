/** Calls at the same moment, without the turns that a host takes between them. */
import { type Journal, type JournalRecord, memoryJournal } from "project-automation/bulk";
import { expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { Deadline } from "../../src/core/time/deadline.ts";
import { IssueGuard } from "../../src/mcp/issue-guard.ts";

/** A service whose issues are counted, as a guard asks it. */
function serviceOf(journal?: Journal) {
  const client = { baseUrl: "https://automation.example.com/api/v1" } as Client; // a guard asks for no more
  const guard = IssueGuard.of(client, journal);
  if (guard === undefined) throw new Error("the client has another journal");
  let sent = 0;
  const create = async (again = false) => {
    const deadline = Deadline.of(5_000);
    const send = async (beforeRequest: (token: string) => Promise<void>) => {
      await beforeRequest("pat_key_secret");
      sent += 1;
      return { number: sent, title: "x", status: "open" };
    };
    return guard
      .create(["web", "x", "bug"], { create: send, projects: () => client.projects.list() }, { again, deadline })
      .finally(() => deadline.release());
  };
  return { create, sent: () => sent };
}

test.each([
  ["without a journal", undefined],
  ["with a journal, which all of them wait for", memoryJournal()],
])("%s, of calls at one moment one is sent", async (_, journal) => {
  const { create, sent } = serviceOf(journal);
  const results = await Promise.all([create(), create(), create()]);
  expect(results.map(({ repeated }) => repeated)).toEqual([false, true, true]);
  expect(sent()).toBe(1);
});

test("calls with again: true are sent one after the other", async () => {
  const { create, sent } = serviceOf();
  const results = await Promise.all([create(), create(true), create(true)]);
  expect(results.map(({ number }) => number)).toEqual([1, 2, 3]);
  expect(sent()).toBe(3);
});

test("a record is durable before the request leaves, and its end after it", async () => {
  const states: string[] = [];
  const { create } = serviceOf({
    load: () => [],
    append: (records: readonly JournalRecord[]) => void states.push(...records.map(({ state }) => state)),
  });
  await create();
  await create();
  expect(states).toEqual(["sending", "done"]);
});
