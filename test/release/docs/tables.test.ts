/**
 * The tables of the guides about what happens: each row is run, and a row that is not known here fails. The tables of
 * retries, of fates, of pauses, of writes that were never sent and of statuses for visitors have files of their own.
 */
import { describe, expect, test } from "vitest";
import { bulkWrite, memoryJournal } from "../../../src/bulk/index.ts";
import { type AutomationError, Client, type ClientOptions, isAutomationError } from "../../../src/client/index.ts";
import { createEmulator, type Fault } from "../../../src/testing/index.ts";
import { key, rowsOf, runToEnd, send } from "../../bulk/rows.ts";
import { ended, fakeTime } from "../../support/fake-time.ts";
import { rejection } from "../../support/promises.ts";
import { connectionLost, good, page, type Reply, responds } from "../../support/replies.ts";
import { repeatingLast, scriptedFetch } from "../../support/scripted-fetch.ts";
import { boundRows, tableOf } from "./tables.ts";

fakeTime();

const create = (client: Client): Promise<unknown> => client.issues.create("web", { title: "One", type: "bug" });
const failure = async (call: Promise<unknown>): Promise<unknown> => (await ended(call)).error;
const words = (cell: string): string => cell.replaceAll("`", "");

describe("docs/errors.md, the classes", () => {
  const { rows } = tableOf("docs/errors.md", "class", "`kind`");
  const told = rows.flatMap(([name = "", kind = "", when = ""]) => {
    const [codes = ""] = /^(?:\d{3}(?:, \d{3})*|5xx|any 3xx)/.exec(when) ?? [];
    const whole = {
      "5xx": [500, 501, 502, 503, 504, 505, 511, 520, 599],
      "any 3xx": [300, 301, 302, 303, 304, 307, 308],
    };
    const statuses =
      codes in whole ? whole[codes as keyof typeof whole] : codes.split(", ").filter(Boolean).map(Number);
    return statuses.map((status) => ({ status, name: words(name), kind: words(kind) }));
  });

  test("name every status that has a class of its own", () => {
    expect(told.length).toBeGreaterThan(20);
    const whenOf = (kind: string): string => rows.find(([, cell]) => cell === `\`${kind}\``)?.[2] ?? "";
    expect(whenOf("api")).toBe("any other refusal; base of the seven above");
    expect(whenOf("server")).toMatch(/^5xx; reads and deletions were \[retried\]\(.*\) if it may pass$/);
  });

  test.each([...told, ...[402, 405, 408, 410, 418].map((status) => ({ status, name: "ApiError", kind: "api" }))])(
    "$status: $name",
    async ({ status, name, kind }) => {
      const answers = scriptedFetch(responds(status, { "retry-after": "0" }));
      const client = answers.client({ retry: { minDelayMs: 0, rateLimitWaits: 1 } });
      const read = await failure(client.sessions.get("ses_1"));
      const deletion = await failure(client.tokens.revoke("tok_1"));
      const write = await failure(create(client));
      for (const error of [read, deletion, write]) expect(error).toMatchObject({ name, kind, status });
      if (kind !== "server") return;
      // What it means for a `ServerError` that only reads and deletions were retried, and only if it may pass.
      const mayPass = [500, 502, 503, 504, 520].includes(status);
      expect([read, deletion]).toMatchObject([{ attempts: mayPass ? 3 : 1 }, { attempts: mayPass ? 3 : 1 }]);
      expect(write).toMatchObject({ attempts: 1, outcome: "unknown" });
    },
  );
});

describe("docs/errors.md, whose word a status is", () => {
  const { rows } = tableOf("docs/errors.md", "status", "is the service's if");
  const another = "it was probably not the service that answered";
  const saidOf = async (body: string, call: (client: Client) => Promise<unknown>, status: number): Promise<boolean> => {
    const client = scriptedFetch(() => new Response(body === "" ? null : body, { status })).client({ retry: false });
    const error = await call(client).catch((thrown: unknown) => thrown);
    return !String(error).includes(another);
  };
  const JSON_BODIES = ["{", "[", '{"a":1}', "null", "7", '"words"'];
  const OTHERS = ["<html>", "OK", "nul"];
  const revoke = (client: Client): Promise<unknown> => client.tokens.revoke("tok_1");
  const cases = {
    "2xx, and a body is due": async () => {
      for (const body of JSON_BODIES) expect(await saidOf(body, create, 201), body).toBe(true);
      for (const body of [...OTHERS, ""]) expect(await saidOf(body, create, 201), body).toBe(false);
      return "its body begins with `{` or `[`, or is one JSON value such as `null`";
    },
    "2xx, and no body is due": async () => {
      for (const body of [...JSON_BODIES, ""]) expect(await saidOf(body, revoke, 200), body).toBe(true);
      for (const body of OTHERS) expect(await saidOf(body, revoke, 200), body).toBe(false);
      return "that, or it has no body";
    },
    "any other": async () => {
      // Only the service can refuse an item.
      const stateOf = async (body: string): Promise<object> => {
        const client = scriptedFetch(responds(422, {}, body)).client({ retry: false });
        const run = bulkWrite({ client, items: rowsOf(1), key, send, journal: memoryJournal() });
        return (await runToEnd(run)).states;
      };
      expect(await stateOf('{"error":"invalid"}')).toEqual({ "row-1": "refused" });
      for (const body of ['{"message":"no"}', "<html>", "{"])
        expect(await stateOf(body)).toEqual({ "row-1": "not_sent" });
      return "its body is JSON with an `error`";
    },
  };
  test.each(boundRows(rows, cases))("$first", async ({ cells, run }) => expect([await run()]).toEqual(cells));
});

describe("docs/lists-and-waits.md, a broken list", () => {
  const { rows } = tableOf("docs/lists-and-waits.md", "the service sends");
  const idsOf = async (reply: Reply): Promise<readonly [readonly string[], AutomationError]> => {
    const ids: string[] = [];
    const list = scriptedFetch(reply).client().projects.list();
    const error = await rejection(
      (async () => {
        for await (const { id } of list) ids.push(id);
      })(),
    );
    if (!isAutomationError(error)) throw error;
    return [ids, error];
  };
  const body = (next: object): Reply => responds(200, {}, JSON.stringify({ data: [], ...next }));
  const cases = {
    "a cursor of this list again": async () => {
      const [ids, error] = await idsOf(({ index }) => page([`p${index}`], index % 2 === 0 ? "c1" : "c2"));
      expect([ids, error.name]).toEqual([["p0", "p1", "p2"], "PaginationError"]);
      return "the items of that page, then `PaginationError`";
    },
    "1,000 empty pages in a row": async () => {
      const [, error] = await idsOf(({ index }) => page([], `c${index}`));
      expect(error).toMatchObject({ name: "PaginationError", cursor: "c999" });
      return "`PaginationError`; its `cursor` goes on";
    },
    'no cursor, `""`, or another type': async () => {
      for (const next of [{}, { next_cursor: "" }, { next_cursor: 7 }]) {
        const [, error] = await idsOf(body(next));
        expect(error.name).toBe("ResponseValidationError");
      }
      return "`ResponseValidationError`";
    },
  };
  test.each(boundRows(rows, cases))("$first", async ({ cells, run }) => expect([await run()]).toEqual(cells));
});

describe("docs/lists-and-waits.md, the end of a wait", () => {
  const { rows } = tableOf("docs/lists-and-waits.md", "the wait ends");
  const wait = (reply: Reply, options: object = {}) =>
    ended(
      scriptedFetch(reply)
        .client()
        .sessions.waitFor("ses_1", { until: () => false, ...options }),
    );
  const cases = {
    "when `totalTimeoutMs` is over": async () => {
      const { error } = await wait(repeatingLast(good, responds(503)), { totalTimeoutMs: 60_000 });
      expect(error).toMatchObject({ name: "TimeoutError", phase: "total", cause: { kind: "server", status: 503 } });
      expect(String(error)).toContain("503");
      return "`TimeoutError`, phase `total`; the message and `cause` have the last failure";
    },
    "without it, after ten minutes without any response": async () => {
      const startedAt = Date.now();
      const { error } = await wait(connectionLost);
      expect(error).toMatchObject({ kind: "connection" });
      expect((Date.now() - startedAt) / 60_000).toBeCloseTo(10, 0);
      return "the last failure; requested pauses do not count";
    },
    "at any other failure (401, 403, 404)": async () => {
      for (const status of [401, 403, 404]) expect((await wait(responds(status))).error).toMatchObject({ status });
      return "that error";
    },
    "when `until` throws": async () => {
      const thrown = new RangeError("mine");
      const until = (): never => {
        throw thrown;
      };
      expect((await wait(good, { until })).error).toBe(thrown);
      return "what it threw";
    },
  };
  test.each(boundRows(rows, cases))("$first", async ({ cells, run }) => expect([await run()]).toEqual(cells));
});

describe("docs/tokens.md, a rotation that failed", () => {
  const { rows } = tableOf("docs/tokens.md", "`outcome`", "The old token");
  async function rotation(fault: Fault) {
    const emulator = createEmulator();
    const created = emulator.createToken({ scopes: ["projects:read"] });
    const client = new Client({ ...emulator.clientOptions, token: created.plaintext, retry: false });
    emulator.fault({ operation: "tokens.rotate", ...fault });
    const error = await failure(client.tokens.rotate(created.id));
    const { error: afterwards } = await ended(client.projects.list().page());
    return { error: error as AutomationError, isValid: afterwards === undefined };
  }
  const cases = {
    "`not_sent`, `rejected`": async () => {
      expect(await rotation({ status: 403 })).toMatchObject({ error: { outcome: "rejected" }, isValid: true });
      return ["is valid, except after a 401", "try again"];
    },
    "`accepted`": async () => {
      const { error, isValid } = await rotation({ status: 201, apply: true, body: { plaintext: "emu_a_b" } });
      expect([error.outcome, isValid]).toEqual(["accepted", false]);
      expect(error).toMatchObject({ rawBody: expect.stringContaining("emu_a_b") });
      return ["is revoked", "read the new one from `error.rawBody`; if it is not there, create another one"];
    },
    "`unknown`": async () => {
      const [before, after] = [await rotation({ drop: "before" }), await rotation({ drop: "after" })];
      expect([before.error.outcome, after.error.outcome]).toEqual(["unknown", "unknown"]);
      expect([before.isValid, after.isValid]).toEqual([true, false]);
      return ["may be revoked", "try it; after a 401 create another one"];
    },
  };
  test.each(boundRows(rows, cases))("$first", async ({ cells, run }) => expect(await run()).toEqual(cells));
});

describe("docs/runtimes.md, a header that a page may not read", () => {
  const { rows } = tableOf("docs/runtimes.md", "missing header", "effect");
  const cases = {
    "`Retry-After`": async () => {
      const pauses: number[] = [];
      const onEvent: ClientOptions["onEvent"] = (event) =>
        event.type === "rate_limit_pause" && pauses.push(event.delayMs / 1_000);
      const client = scriptedFetch(responds(429)).client({ onEvent, maxConcurrency: 1 });
      await ended(client.sessions.get("ses_1"));
      for (const [index, seconds] of [0.5, 4, 8, 16, 32].entries()) {
        expect(pauses[index]).toBeGreaterThanOrEqual(seconds);
        expect(pauses[index]).toBeLessThanOrEqual(seconds * 1.1);
      }
      return "after a 429 the client pauses for half a second, then for 4, 8, 16 and 32 s, and up to 10 % longer each";
    },
    "`RateLimit-Limit`, `RateLimit-Remaining`": async () => {
      const client = scriptedFetch(good).client();
      await client.sessions.get("ses_1");
      expect([client.rateLimit?.limit, client.rateLimit?.remaining]).toEqual([undefined, undefined]);
      return "`client.rateLimit` has no `limit` and no `remaining`";
    },
    "`Access-Control-Allow-Origin`": async () => {
      const blocked = (): never => {
        throw new TypeError("Failed to fetch"); // as Chromium says it
      };
      expect(await failure(create(scriptedFetch(blocked).client()))).toMatchObject({
        kind: "connection",
        outcome: "unknown",
      });
      return 'a `ConnectionError` with `outcome: "unknown"`: the service may have processed the request';
    },
  };
  test.each(boundRows(rows, cases))("$first", async ({ cells, run }) => expect([await run()]).toEqual(cells));
});
