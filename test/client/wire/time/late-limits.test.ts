/** A time limit measures the service, not the process: what has arrived while the process stood still is delivered. */
import { describe, expect, test } from "vitest";
import type { Client, ClientOptions } from "../../../../src/client/index.ts";
import { createIssue, rotate } from "../../../support/calls.ts";
import { fakeTime, pass, standStill } from "../../../support/fake-time.ts";
import { gate, rejection } from "../../../support/promises.ts";
import { after, good, never, type Reply, responds, status, tooMany } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const LIMITS = { timeoutMs: { timeoutMs: 1_000 }, totalTimeoutMs: { totalTimeoutMs: 1_000 } } as const;
const ISSUE = { number: 1, title: "Title", status: "open" };

/** How a call has settled so far. */
function settling(call: Promise<unknown>): { readonly end: unknown } {
  const settled = { end: undefined as unknown };
  call.then(
    (value) => (settled.end = value),
    (error: unknown) => (settled.end = error),
  );
  return settled;
}

/** A response, the head or the body of which comes when it is let go. */
function held(what: "head" | "body"): { readonly reply: Reply; readonly letGo: () => void } {
  const answered = gate();
  const bytes = new TextEncoder().encode(JSON.stringify(ISSUE));
  const reply: Reply = async () => {
    if (what === "head") await answered.opened;
    const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
      await answered.opened;
      controller.enqueue(bytes);
      controller.close();
    };
    return new Response(new ReadableStream({ pull }), { status: 201 });
  };
  return { reply, letGo: () => answered.open() };
}

describe.each(Object.entries(LIMITS))("%s", (limit, options) => {
  test.each(["head", "body"] as const)(
    "that fires late lets the %s of a response come that has arrived",
    async (what) => {
      const { reply, letGo } = held(what);
      const service = scriptedFetch(reply);
      const call = settling(createIssue(service.client(options)));
      await pass(500);
      standStill(33_000);
      await pass(500);
      expect([call.end, service.sent[0]?.signal.aborted]).toEqual([undefined, false]);
      letGo();
      await pass(0);
      expect(call.end).toEqual(ISSUE);
    },
  );

  test("that fires in time ends the request at once", async () => {
    const { reply, letGo } = held("head");
    const service = scriptedFetch(reply);
    const call = settling(createIssue(service.client(options)));
    await pass(1_000);
    letGo();
    expect(call.end).toMatchObject({ kind: "timeout", phase: "headers", outcome: "unknown" });
    expect(service.sent[0]?.signal.aborted).toBe(true);
  });

  test("that fires late ends what has no answer, a moment later, in real time", async () => {
    const service = scriptedFetch(never);
    const call = createIssue(service.client(options));
    await pass(500);
    standStill(33_000);
    await pass(500);
    const error = await rejection(call);
    expect(error).toMatchObject({ kind: "timeout", phase: "headers", outcome: "unknown" });
    expect((error as Error).message).toContain(`${limit} (1000) ran out while waiting for the response`);
    expect(service.sent[0]?.signal.aborted).toBe(true);
  });

  test("that fires late does not keep an abort waiting", async () => {
    const controller = new AbortController();
    const call = settling(createIssue(scriptedFetch(never).client(options), { signal: controller.signal }));
    await pass(500);
    standStill(33_000);
    await pass(500);
    controller.abort("enough");
    await pass(0);
    expect(call.end).toMatchObject({ kind: "abort", cause: "enough", outcome: "unknown" });
  });
});

test("the replacement of a rotated token is not lost", async () => {
  const answered = gate();
  const token = {
    id: "t2",
    name: "ci",
    key_id: "k2",
    plaintext: "pat_k2_TheNewSecret",
    scopes: [],
    expires_at: "2300-01-01T00:00:00Z",
  };
  const service = scriptedFetch(async () => {
    await answered.opened;
    return status(201, {}, JSON.stringify(token));
  });
  const client = service.client();
  const call = settling(rotate(client, { adopt: true } as object));
  await pass(300);
  standStill(33_000);
  await pass(30_000);
  answered.open();
  await pass(0);
  expect(call.end).toEqual(token);
  const next = settling(client.sessions.get("1"));
  await pass(0);
  expect([service.sent[1]?.token, next.end]).toEqual([token.plaintext, expect.anything()]);
});

describe("nothing is begun when the time of the call is over", () => {
  const waiting: readonly {
    readonly after: string;
    readonly reply: Reply;
    readonly options: ClientOptions;
    readonly outcome: string;
  }[] = [
    { after: "a pause", reply: tooMany(2), options: {}, outcome: "rejected" },
    {
      after: "a backoff",
      reply: responds(503),
      options: { retry: { minDelayMs: 2_000, unsafeWrites: true } },
      outcome: "unknown",
    },
  ];

  test.each(waiting)("after $after", async ({ reply, options, outcome }) => {
    const service = scriptedFetch(reply, good);
    const call = rejection(createIssue(service.client({ totalTimeoutMs: 5_000, ...options })));
    await pass(100);
    standStill(60_000);
    await pass(2_200);
    const error = await call;
    expect(error).toMatchObject({ kind: "timeout", outcome });
    expect((error as Error).message).toContain("totalTimeoutMs (5000) ran out");
    expect(service.sent).toHaveLength(1);
  });

  test("after onRequest", async () => {
    const service = scriptedFetch(good);
    const onRequest = (): void => standStill(60_000);
    const call = rejection(createIssue(service.client({ totalTimeoutMs: 5_000 }), { onRequest }));
    await pass(0);
    expect(await call).toMatchObject({ kind: "timeout", outcome: "not_sent", attempts: 0 });
    expect(service.sent).toEqual([]);
  });

  test("between two polls", async () => {
    for (const method of ["waitFor", "watch"] as const) {
      const service = scriptedFetch(() => Response.json({ id: "s", state: "running" }));
      const wait = pollingOf(service.client(), method);
      await pass(100);
      standStill(60_000);
      await pass(1_000);
      expect(await wait).toMatchObject({ kind: "timeout", phase: "total", session: { state: "running" } });
      expect(service.sent).toHaveLength(1);
    }
  });
});

test("a token that came late leaves its request a time of its own", async () => {
  const answered = gate();
  const token = async (): Promise<string> => {
    await answered.opened;
    return "provided";
  };
  const service = scriptedFetch(after(900, good));
  const call = settling(createIssue(service.client({ token, timeoutMs: 1_000 })));
  await pass(500);
  standStill(33_000);
  await pass(500);
  answered.open();
  await pass(900);
  expect(call.end).toMatchObject({ title: expect.any(String) });
  expect(service.sent).toHaveLength(1);
});

/** The failure of a wait of five seconds for a state that does not come. */
function pollingOf(client: Client, method: "waitFor" | "watch"): Promise<unknown> {
  const watching = async (): Promise<void> => {
    for await (const _ of client.sessions.watch("s", { totalTimeoutMs: 5_000 }));
  };
  return rejection(
    method === "watch" ? watching() : client.sessions.waitFor("s", { until: () => false, totalTimeoutMs: 5_000 }),
  );
}
