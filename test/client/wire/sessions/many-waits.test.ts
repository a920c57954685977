/** Hundreds of waits for sessions through one client. */
import { expect, test } from "vitest";
import { fakeNow, fakeTime, pass, watch } from "../../../support/fake-time.ts";
import { type Reply, responds } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const CROWD = 500;
const INTERVAL_MS = 1_000;

/** Sessions that are done after some time, and a log of polls. */
function service(doneAt: number): { reply: Reply; polls: Map<string, number[]> } {
  const polls = new Map<string, number[]>();
  const reply: Reply = ({ url, at }) => {
    const id = url.split("/").at(-1) ?? "";
    if (url.includes("/projects")) return responds(200, {}, '{"data":[],"next_cursor":null}')({} as never);
    polls.set(id, [...(polls.get(id) ?? []), at]);
    return Response.json({ id, state: at >= doneAt ? "done" : "thinking about it" });
  };
  return { reply, polls };
}

test("their polls are spread, each by its own random factor", async () => {
  const began = fakeNow();
  const { reply, polls } = service(began + 6_000);
  const client = scriptedFetch(reply).client({ maxConcurrency: CROWD });
  const waits = Array.from({ length: CROWD }, (_, index) =>
    client.sessions.waitFor(`s${index}`, { until: ({ state }) => state === "done", intervalMs: INTERVAL_MS }),
  );
  const done = watch(waits);
  await pass(20_000);
  const settled = await done;
  expect(settled.filter(({ value }) => value?.state === "done")).toHaveLength(CROWD);
  // The first polls are sent at once. From the second one on they are spread over a quarter of an interval.
  for (const round of [1, 2, 3]) {
    const times = [...polls.values()].map((all) => (all[round] ?? 0) - began);
    const span = Math.max(...times) - Math.min(...times);
    expect(span, `round ${round}`).toBeGreaterThan(INTERVAL_MS * 0.24);
    const slots = new Map<number, number>();
    for (const time of times) slots.set(Math.floor(time / 10), (slots.get(Math.floor(time / 10)) ?? 0) + 1);
    expect(Math.max(...slots.values()), `most in 10 ms, round ${round}`).toBeLessThan(CROWD / 10);
  }
});
