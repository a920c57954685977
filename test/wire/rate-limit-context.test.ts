/** A call continues in the asynchronous context in which it was made, also if another call admits it. */
import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "vitest";
import { get } from "../support/calls.ts";
import { allEnded, fakeTime } from "../support/fake-time.ts";
import { after, good, tooMany } from "../support/replies.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";

fakeTime();

test("calls keep their AsyncLocalStorage context across the queue and a pause", async () => {
  const context = new AsyncLocalStorage<number>();
  const seen: [call: number, context: number | undefined][] = [];
  const service = scriptedFetch((sent) => {
    seen.push([Number(sent.url.split("/").at(-1)), context.getStore()]);
    return after(10, sent.index === 1 ? tooMany(1) : good)(sent);
  });
  const client = service.client({ maxConcurrency: 2 });
  const calls = Array.from({ length: 12 }, (_, number) => context.run(number, () => get(client, number)));
  await allEnded(calls);
  expect(seen).toHaveLength(13);
  for (const [call, store] of seen) expect(store).toBe(call);
});
