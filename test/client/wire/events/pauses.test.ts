/** Pauses in events and in `client.rateLimit`: once per pause, token and client, wherever they were learnt. */
import { expect, test } from "vitest";
import { type ClientEvent, memoryRateLimiter, type RateLimiter } from "../../../../src/client/index.ts";
import { allEnded, ended, fakeNow, fakeTime, finish, pass, watch } from "../../../support/fake-time.ts";
import { after, good, type Reply, tooMany } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

interface Seen {
  readonly type: ClientEvent["type"];
  readonly at: number;
}

/** The events of a kind that a client tells, and when. */
function recorder(kind = "rate_limit"): { readonly seen: Seen[]; readonly onEvent: (event: ClientEvent) => void } {
  const seen: Seen[] = [];
  const began = fakeNow();
  const onEvent = ({ type }: ClientEvent): void => {
    if (type.startsWith(kind)) seen.push({ type, at: fakeNow() - began });
  };
  return { seen, onEvent };
}

/** A provider that returns these tokens in turn. */
function inTurn(...tokens: readonly string[]): () => string {
  let asked = 0;
  return () => tokens[asked++ % tokens.length] ?? "";
}

const A = "pat_a_0123456789";
const B = "pat_b_0123456789";

test("with a pool of tokens, a pause of one token is not over when a request with another one is sent", async () => {
  const service = scriptedFetch((sent) => (sent.index === 0 ? tooMany(60)(sent) : good(sent)));
  const { seen, onEvent } = recorder();
  const client = service.client({ token: inTurn(A, B), onEvent });
  expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
  expect(service.sent.map(({ token }) => token)).toEqual([A, B]);
  expect(seen.map(({ type }) => type)).toEqual(["rate_limit_pause"]);
  await pass(70_000);
  await ended(client.sessions.get("2"));
  expect(seen.map(({ type }) => type)).toEqual(["rate_limit_pause", "rate_limit_resume"]);
  expect(seen[1]?.at).toBeGreaterThanOrEqual(60_000);
});

test("two tokens that are paused at once are two pauses", async () => {
  const both: Reply = after(20, tooMany(60));
  const service = scriptedFetch((sent) => (sent.index < 2 ? both(sent) : good(sent)));
  const { seen, onEvent } = recorder();
  const client = service.client({ token: inTurn(A, B), retry: false, onEvent });
  const first = watch([client.sessions.get("1")]);
  await pass(1);
  const second = watch([client.sessions.get("2")]);
  await finish(first);
  await finish(second);
  expect(seen.map(({ type }) => type)).toEqual(["rate_limit_pause", "rate_limit_pause"]);
});

test("a pause that becomes much longer is told again", async () => {
  const service = scriptedFetch((sent) => after(10 * sent.index, tooMany(sent.index === 0 ? 1 : 60))(sent));
  const { seen, onEvent } = recorder();
  const client = service.client({ retry: false, onEvent });
  await finish(watch([client.sessions.get("1"), client.sessions.get("2"), client.sessions.get("3")]));
  expect(seen.map(({ type }) => type)).toEqual(["rate_limit_pause", "rate_limit_pause"]);
});

test("a pause costs as many looks among a hundred tokens that are paused as among one", async () => {
  const gates = memoryRateLimiter();
  let looks = 0;
  const rateLimiter: RateLimiter = {
    enter: (call) => gates.enter(call),
    snapshot: (...of) => {
      looks += 1;
      return gates.snapshot(...of);
    },
  };
  let asked = 0;
  const token = (): string => `pat_${asked++}_0123456789`;
  const client = scriptedFetch(tooMany(600)).client({ token, rateLimiter, retry: false, onEvent: () => {} });
  const looksOfNext = async (): Promise<number> => {
    const before = looks;
    expect((await ended(client.sessions.get("1"))).error).toMatchObject({ kind: "rate_limit" });
    return looks - before;
  };
  await looksOfNext();
  const amongOne = await looksOfNext();
  for (let more = 0; more < 100; more += 1) await looksOfNext();
  expect(await looksOfNext()).toBe(amongOne);
});

test("a pause that another client learnt is told, and in rateLimit, though no response said what is left", async () => {
  const rateLimiter = memoryRateLimiter();
  const { seen, onEvent } = recorder();
  const service = scriptedFetch(tooMany(30), good);
  const [one, two] = [service.client({ rateLimiter }), service.client({ rateLimiter, onEvent })];
  expect((await ended(one.sessions.get("1", { retry: false }))).error).toMatchObject({ kind: "rate_limit" });
  const waiting = watch([two.sessions.get("2")]);
  await pass(1);
  expect(two.rateLimit?.pausedUntil?.getTime()).toBeGreaterThan(Date.now() + 29_000);
  await finish(waiting);
  expect(seen.map(({ type }) => type)).toEqual(["rate_limit_pause", "rate_limit_resume"]);
});

test("the end of the pause of a replaced token is told, however long another token is paused", async () => {
  const service = scriptedFetch((sent) => tooMany(sent.index === 0 ? 600 : 1)(sent));
  const { seen, onEvent } = recorder();
  const tokens = Array.from({ length: 20 }, (_, nth) => `pat_${nth}_0123456789`);
  const client = service.client({ token: inTurn(...tokens), retry: false, onEvent });
  for (const token of tokens) {
    await ended(client.sessions.get(token.slice(4, 6)));
    await pass(2_000);
  }
  const ends = seen.filter(({ type }) => type === "rate_limit_resume");
  expect(ends).toHaveLength(18);
});

test("the end of a call is told once, after everything else, with what came of it", async () => {
  const events: ClientEvent[] = [];
  const service = scriptedFetch(tooMany(2), good, tooMany(600));
  const client = service.client({ onEvent: (event) => void events.push(event) });
  await allEnded([client.sessions.get("1")]);
  await allEnded([client.sessions.get("2")]);
  const ends = events.filter((event) => event.type === "end");
  expect(ends).toMatchObject([
    { ok: true, outcome: "accepted", status: 200, attempts: 2 },
    { ok: false, kind: "rate_limit", outcome: "rejected", status: 429, attempts: 1 },
  ]);
  expect(ends[0]?.durationMs).toBeGreaterThanOrEqual(2_000);
  expect(events.at(-1)?.type).toBe("end");
});

test("a wait in the queue is told after five seconds, once a minute for all that wait", async () => {
  const service = scriptedFetch(after(1_000, good));
  const { seen, onEvent } = recorder("queue_wait");
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  const logger = { debug: () => {}, info: () => {}, warn: print, error: print };
  const client = service.client({ maxConcurrency: 1, onEvent, logger, logLevel: "warn" });
  const calls = watch(Array.from({ length: 100 }, () => client.sessions.get("1")));
  await finish(calls);
  expect(seen).toEqual([
    { type: "queue_wait", at: 5_000 },
    { type: "queue_wait", at: 65_000 },
  ]);
  expect(lines).toEqual([
    expect.stringContaining("sessions.get: waiting in the queue for 5000 ms by now"),
    expect.stringContaining("sessions.get: waiting in the queue for 65000 ms by now"),
  ]);
});

test("pauses that follow one another are a wait in the queue, however short each is", async () => {
  const service = scriptedFetch((sent) => (sent.index < 3 ? tooMany(3)(sent) : good(sent)));
  const { seen, onEvent } = recorder("queue_wait");
  const client = service.client({ maxConcurrency: 1, onEvent });
  await finish(watch(Array.from({ length: 2 }, () => client.sessions.get("1"))));
  expect(seen).toEqual([{ type: "queue_wait", at: 5_000 }]);
});

test("a long pause is told as a pause alone, and the wait behind it counts from its end", async () => {
  const service = scriptedFetch((sent) => (sent.index === 0 ? tooMany(30)(sent) : after(20_000, good)(sent)));
  const { seen, onEvent } = recorder("queue_wait");
  const client = service.client({ maxConcurrency: 1, onEvent });
  await finish(watch(Array.from({ length: 2 }, () => client.sessions.get("1"))));
  expect(seen).toHaveLength(1);
  expect(seen[0]?.at).toBeGreaterThanOrEqual(35_000);
});
