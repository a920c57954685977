/** `onRequest`: awaited before each request waits for its slot. */
import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { AbortError, type CallOptions, type Client, type RequestInfo } from "../../../../src/client/index.ts";
import { internalsOf } from "../../../../src/core/call/internals.ts";
import { ended, fakeTime, finish, pass, watch } from "../../../support/fake-time.ts";
import { fetchFailed } from "../../../support/fetch-errors.ts";
import { send, serve } from "../../../support/http-server.ts";
import { gate } from "../../../support/promises.ts";
import { after, good, never, responds, status, throws, tooMany } from "../../../support/replies.ts";
import { scriptedFetch, TOKEN } from "../../../support/scripted-fetch.ts";

fakeTime();

const create = (client: Client, options: CallOptions): Promise<unknown> =>
  client.issues.create("web", { title: "Title", type: "bug" }, options);

describe("the order of things", () => {
  test("a request reaches the server only after its promise has resolved", async () => {
    vi.useRealTimers();
    const log: string[] = [];
    const server = await serve((response, { method }) => {
      log.push(`server: ${method}`);
      send(response, 201, { number: 1, title: "Title", status: "open" });
    });
    const go = gate();
    const client = scriptedFetch().client({ baseUrl: `${server.origin}/api/v1`, fetch: undefined });
    const onRequest = async ({ attempt }: RequestInfo): Promise<void> => {
      log.push(`begins ${attempt}`);
      await go.opened;
      log.push(`ends ${attempt}`);
    };
    const call = create(client, { onRequest }).then(() => log.push("resolved"));
    await expect.poll(() => log).toEqual(["begins 1"]);
    // Whatever was to be sent too early has arrived when another request has gone there and back.
    await create(client, {});
    expect(log).toEqual(["begins 1", "server: POST"]);
    go.open();
    await call;
    expect(log).toEqual(["begins 1", "server: POST", "ends 1", "server: POST", "resolved"]);
  });

  test("it holds no slot: others are sent meanwhile, and a call of the same client that it makes", async () => {
    const service = scriptedFetch(good);
    const client = service.client({ maxConcurrency: 1 });
    const go = gate();
    const calls = ["1", "2"].map((id) =>
      create(client, { onRequest: () => go.opened.then(() => client.sessions.get(id)).then(() => undefined) }),
    );
    await finish(client.sessions.get("0"));
    go.open();
    for (const call of calls) await finish(call);
    const asked = service.sent.map(({ path }) => path.split("/").at(-1));
    expect(asked).toEqual(["0", "1", "2", "issues", "issues"]);
  });

  test("is told the attempt, the id of the call and the operation, as events are", async () => {
    const told: RequestInfo[] = [];
    const ids: string[] = [];
    const service = scriptedFetch(responds(500), tooMany(1), responds(401), good);
    const token = ({ rejected }: { rejected?: string }): string => (rejected === undefined ? "first" : "second");
    const onEvent = ({ callId, type }: { callId: string; type: string }): void => {
      if (type === "request") ids.push(callId);
    };
    const client = service.client({ token, onEvent });
    await finish(client.sessions.get("1", { onRequest: (request) => void told.push(request) }));
    expect(told).toEqual([1, 2, 3, 4].map((attempt) => ({ attempt, callId: ids[0], operation: "sessions.get" })));
    expect(new Set(ids).size).toBe(1);
    expect(service.sent).toHaveLength(4);
  });

  test("a token that is set while it is awaited is the one that is sent", async () => {
    const service = scriptedFetch(good);
    const client = service.client();
    await finish(client.sessions.get("1", { onRequest: () => client.setToken("swapped") }));
    expect(service.sent.map(({ token }) => token)).toEqual(["swapped"]);
  });

  test("in a walk it runs before each page, and every page is attempt 1 of a call of its own", async () => {
    const told: RequestInfo[] = [];
    const service = scriptedFetch(({ index }) =>
      status(200, {}, JSON.stringify({ data: [{ id: "p", name: "p" }], next_cursor: index < 2 ? `c${index}` : null })),
    );
    const onRequest = (request: RequestInfo): void => void told.push(request);
    await finish(service.client().projects.list({}, { onRequest }).toArray());
    expect(told.map(({ attempt, operation }) => [attempt, operation])).toEqual(Array(3).fill([1, "projects.list"]));
    expect(new Set(told.map(({ callId }) => callId)).size).toBe(3);
  });

  test("in a wait it runs before each poll", async () => {
    let polls = 0;
    const service = scriptedFetch(({ index }) => status(200, {}, JSON.stringify({ id: "1", state: `s${index}` })));
    const until = ({ state }: { state: string }): boolean => state === "s2";
    const onRequest = (): void => {
      polls += 1;
    };
    await finish(service.client().sessions.waitFor("1", { until, onRequest }));
    expect(polls).toBe(3);
  });
});

describe("what it fails with", () => {
  const reasons: readonly [string, unknown, string][] = [
    ["an Error", new Error("the journal is full"), " (the journal is full)"],
    ["a string", "no", " (no)"],
    ["an object", { code: 1 }, " (it does not say why)"],
  ];
  test.each(reasons)(
    "%s, thrown or rejected, is the cause of an AbortError, and nothing is sent",
    async (_, reason, said) => {
      const failing = [
        () => {
          throw reason;
        },
        () => Promise.reject(reason),
      ];
      for (const onRequest of failing) {
        const service = scriptedFetch(good);
        const { error } = await ended(create(service.client(), { onRequest }));
        expect(error).toBeInstanceOf(AbortError);
        expect(error).toMatchObject({ outcome: "not_sent", attempts: 0 });
        expect((error as AbortError).cause).toEqual(reason);
        expect((error as AbortError).message).toBe(
          `issues.create: onRequest failed, so the request was not sent${said}`,
        );
        expect(service.sent).toEqual([]);
      }
    },
  );

  test("no token that it quotes or holds is in the error", async () => {
    const token = "pat_k1_9fQ2xR7vLm3Tz8";
    const onRequest = (): never => {
      const config = { headers: { authorization: `Bearer ${token}` } };
      throw Object.assign(new Error(`${token} and pat_live_4hG7kP2qWx9Zr1 are revoked`), { config });
    };
    const { error } = await ended(create(scriptedFetch(good).client({ token }), { onRequest }));
    expect((error as AbortError).message).toBe(
      "issues.create: onRequest failed, so the request was not sent ([redacted] and [redacted] are revoked)",
    );
    expect(inspect(error, { depth: 9 })).not.toContain(token);
  });

  test("at a later attempt: what is known of the attempts before stays known", async () => {
    const second = ({ attempt }: RequestInfo): void => {
      if (attempt === 2) throw new Error("no more");
    };
    const rejected = await ended(create(scriptedFetch(tooMany(1), good).client(), { onRequest: second }));
    expect(rejected.error).toMatchObject({ kind: "abort", outcome: "rejected", attempts: 1 });
    const lost = scriptedFetch(
      throws(() => fetchFailed("ECONNRESET")),
      good,
    );
    const retry = { unsafeWrites: true, minDelayMs: 0 };
    const unknown = await ended(create(lost.client({ retry }), { onRequest: second }));
    expect(unknown.error).toMatchObject({ kind: "abort", outcome: "unknown", attempts: 1 });
    expect(lost.sent).toHaveLength(1);
  });

  test("in a walk, the error has the cursor of the page that was not asked for", async () => {
    const service = scriptedFetch(() => status(200, {}, '{"data":[{"id":"p","name":"p"}],"next_cursor":"c1"}'));
    let pages = 0;
    const onRequest = (): void => {
      pages += 1;
      if (pages === 2) throw new Error("enough");
    };
    const { error } = await ended(service.client().projects.list({}, { onRequest }).toArray());
    expect(error).toMatchObject({ kind: "abort", cursor: "c1" });
    expect(service.sent).toHaveLength(1);
  });
});

describe("one that hangs", () => {
  const onRequest = (): Promise<void> => new Promise(() => undefined);

  test.each([
    ["timeoutMs", { timeoutMs: 1_000 }],
    ["totalTimeoutMs", { totalTimeoutMs: 1_000 }],
  ])("is ended by %s, and nothing is sent", async (name, options) => {
    const service = scriptedFetch(good);
    const { error, tookMs } = await ended(create(service.client(), { onRequest, ...options }));
    expect(error).toMatchObject({ kind: "timeout", phase: "queue", outcome: "not_sent", attempts: 0 });
    expect((error as Error).message).toContain(`${name} (1000) ran out before the request was sent`);
    expect(Math.floor(tookMs / 10)).toBe(100);
    expect(service.sent).toEqual([]);
  });

  test("is ended by the signal, and what it does later changes nothing", async () => {
    const service = scriptedFetch(good);
    const controller = new AbortController();
    const late = (): Promise<void> => new Promise((_, reject) => setTimeout(() => reject(new Error("late")), 5_000));
    const call = watch([create(service.client(), { onRequest: late, signal: controller.signal })]);
    await pass(100);
    controller.abort("enough");
    expect(await finish(call)).toMatchObject([{ error: { kind: "abort", cause: "enough", outcome: "not_sent" } }]);
    await pass(10_000);
    expect(service.sent).toEqual([]);
  });
});

test("its time counts to the timeoutMs of its request", async () => {
  const onRequest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 600));
  const call = create(scriptedFetch(never).client(), { onRequest, timeoutMs: 1_000, retry: false });
  const { error, tookMs } = await ended(call);
  expect(error).toMatchObject({ kind: "timeout", phase: "headers", attempts: 1 });
  expect(Math.floor(tookMs / 10)).toBe(100);
});

describe("while a bulk write records a request", () => {
  /** A client that awaits `record` before each of its requests. */
  const recording = (client: Client, record: (token: string) => Promise<void>): Client => {
    const recorded = internalsOf(client)?.instrumented({ begin: () => ({ beforeRequest: record }) });
    if (recorded === undefined) throw new Error("a client can be hooked");
    return recorded;
  };

  test("a token that is set is recorded as well, and sent", async () => {
    const service = scriptedFetch(good);
    const client = service.client();
    const tokens: string[] = [];
    const bound = recording(client, async (token) => {
      if (tokens.push(token) === 1) client.setToken("swapped");
    });
    await finish(create(bound, {}));
    expect(tokens).toEqual([TOKEN, "swapped"]);
    expect(service.sent.map(({ token }) => token)).toEqual(["swapped"]);
  });

  test("a pause that begins is waited out, and the record stands", async () => {
    const service = scriptedFetch(after(100, tooMany(30)), good, good);
    const client = service.client();
    let records = 0;
    const bound = recording(client, async () => {
      records += 1;
      await new Promise((resolve) => setTimeout(resolve, 200));
    });
    const calls = watch([client.sessions.get("1"), create(bound, {})]);
    await finish(calls);
    const [refused, ...rest] = service.sent;
    for (const { at } of rest) expect(at - (refused?.at ?? 0)).toBeGreaterThanOrEqual(30_000);
    expect([rest.length, records]).toEqual([2, 1]);
  });
});

test("an onRequest that aborts the call itself: nothing is sent", async () => {
  const service = scriptedFetch(good);
  const controller = new AbortController();
  const call = create(service.client(), { signal: controller.signal, onRequest: () => controller.abort("mine") });
  expect((await ended(call)).error).toMatchObject({ kind: "abort", cause: "mine", outcome: "not_sent" });
  expect(service.sent).toEqual([]);
});

describe("it returns nothing", () => {
  test.each<readonly [unknown, string]>([
    [false, "false"],
    [0, "0"],
    [{ headers: { "x-a": "secret" } }, "an object"],
    [Promise.resolve(false), "false"],
  ])("%j: a value is refused, and nothing is sent", async (returned, shown) => {
    const service = scriptedFetch(good);
    const { error } = await ended(create(service.client(), { onRequest: (() => returned) as () => void }));
    expect(error).toMatchObject({
      kind: "argument",
      outcome: "not_sent",
      message: `issues.create: onRequest must return nothing, not ${shown}: throw to stop the request`,
    });
    expect(service.sent).toEqual([]);
  });

  test.each([undefined, Promise.resolve()])("%j is nothing", async (returned) => {
    const service = scriptedFetch(good);
    await finish(create(service.client(), { onRequest: () => returned }));
    expect(service.sent).toHaveLength(1);
  });

  test("a value before a later attempt ends the call there", async () => {
    const service = scriptedFetch(tooMany(1), good);
    const onRequest = (({ attempt }: RequestInfo) => (attempt > 1 ? false : undefined)) as () => void;
    const { error } = await ended(create(service.client(), { onRequest }));
    expect(error).toMatchObject({ kind: "argument", outcome: "rejected" });
    expect(service.sent).toHaveLength(1);
  });
});
