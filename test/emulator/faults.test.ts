import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Client } from "../../src/client/index.ts";
import type { Fault } from "../../src/testing/index.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { turns } from "../support/turns.ts";
import type { Opened } from "./transports.ts";
import { ask, post, transports } from "./transports.ts";

const NEW_ISSUE = { title: "It breaks", type: "bug" };

/** What a promise rejects with. */
async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => Promise.reject(new Error("expected a rejection")),
    (error: unknown) => error,
  );
}

describe.each(transports)("faults over $name", ({ name, open }) => {
  let opened: Opened;
  const fault = (script: Fault): ReturnType<Opened["emulator"]["fault"]> => opened.emulator.fault(script);
  const issues = (): number => opened.emulator.issues.list("web").length;
  const createIssue = (): ReturnType<typeof post> => post(opened, "/projects/web/issues", { json: NEW_ISSUE });
  const settled = async (outcome: string): Promise<void> => {
    await expect.poll(() => opened.emulator.requests.at(-1)?.outcome).toBe(outcome);
  };

  beforeEach(async () => {
    opened = await open({ rateLimit: { limit: 10 } });
  });
  afterEach(() => opened[Symbol.asyncDispose]());

  test("a status replaces the operation, which is not counted", async () => {
    fault({ status: 503, headers: { "retry-after": "2" } });
    const { status, headers, body } = await createIssue();
    expect([status, body.error, headers.get("retry-after")]).toEqual([503, "service_unavailable", "2"]);
    expect(headers.get("ratelimit-remaining")).toBe("10");
    expect(issues()).toBe(0);
    expect(opened.emulator.requests.at(-1)).toMatchObject({ status: 503, applied: false, faulty: true });
    expect((await createIssue()).status).toBe(201);
  });

  test("with apply, the operation is carried out behind the status", async () => {
    fault({ status: 502, apply: true, body: "<html>Bad Gateway</html>", headers: { "content-type": "text/html" } });
    const { status, headers, text } = await createIssue();
    expect([status, headers.get("content-type"), text]).toEqual([502, "text/html", "<html>Bad Gateway</html>"]);
    expect(headers.get("ratelimit-remaining")).toBe("9");
    expect(issues()).toBe(1);
  });

  test.each([200, 201, 204, 302, 304, 400, 418, 451, 500, 599])("status %i travels as it is", async (status) => {
    fault({ status });
    const response = await ask(opened, "/projects");
    expect(response.status).toBe(status);
    if (status >= 400) expect(response.body.error).toEqual(expect.any(String));
    else expect(response.text).toBe("");
  });

  test("bodies travel as text, as bytes and as JSON; an empty one is empty", async () => {
    for (const [body, text] of [
      ["", ""],
      ['{"data":[', '{"data":['],
      [new Uint8Array([0x68, 0x69]), "hi"],
      [runInNewContext("new Uint8Array([0x68, 0x69])"), "hi"], // as jest and jsdom make them
      [null, "null"],
      [[1], "[1]"],
    ] as const) {
      fault({ status: 200, body });
      expect((await ask(opened, "/projects")).text).toBe(text);
    }
  });

  test("headers are set, repeated and left out", async () => {
    const headers = { "X-Thing": "1", "ratelimit-limit": ["100", "100;w=60"], "RateLimit-Remaining": null, date: null };
    fault({ headers: { ...headers, "x-request-id": null } });
    const response = await ask(opened, "/projects");
    expect(response.status).toBe(200);
    expect(response.headers.get("x-thing")).toBe("1");
    expect(response.headers.get("ratelimit-limit")).toBe("100, 100;w=60");
    for (const absent of ["ratelimit-remaining", "date", "x-request-id"]) {
      expect([absent, response.headers.has(absent)]).toEqual([absent, false]);
    }
  });

  test.each(["before", "after"] as const)("a connection dropped %s the operation", async (drop) => {
    fault({ operation: "issues.create", drop });
    const error = await failure(createIssue());
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: "fetch failed", cause: { code: "ECONNRESET" } });
    expect(issues()).toBe(drop === "before" ? 0 : 1);
    const logged = { status: undefined, applied: drop === "after", outcome: "dropped" };
    expect(opened.emulator.requests.at(-1)).toMatchObject(logged);
    expect((await createIssue()).status).toBe(201);
  });

  test.each([
    [{ drop: "before" }, "unknown"],
    [{ drop: "after" }, "unknown"],
    [{ cutAfterBytes: 5 }, "accepted"],
  ] as const)("%j of a write: it is %s to the client", async (connection, outcome) => {
    fault({ operation: "issues.create", ...connection });
    const { baseUrl, token } = opened.emulator;
    const fetch = name === "fetch" ? opened.fetch : undefined;
    const client = new Client({ baseUrl, token, fetch, retry: false });
    const error = await failure(client.issues.create("web", { title: "It breaks", type: "bug" }));
    expect(error).toMatchObject({ kind: "connection", outcome });
  });

  test.each([0, 1, 20])("a body cut after %i bytes", async (cutAfterBytes) => {
    fault({ cutAfterBytes });
    const headers = { authorization: `Bearer ${opened.emulator.token}` };
    const chunks: Uint8Array[] = [];
    const read = async (): Promise<void> => {
      const response = await opened.fetch(`${opened.emulator.baseUrl}/projects`, { headers });
      expect(response.status).toBe(200);
      for await (const chunk of response.body ?? []) chunks.push(chunk);
    };
    expect(await failure(read())).toBeInstanceOf(TypeError);
    const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    expect(size).toBe(cutAfterBytes);
    expect(opened.emulator.requests[0]?.outcome).toBe("cut");
  });

  test.each<[string, Fault]>([
    ["never answers", { delayMs: Infinity }],
    ["stalls in the body", { stallAfterBytes: 3 }],
    ["stalls before the body", { stallAfterBytes: 0 }],
  ])("a service that %s holds the client until it leaves", async (_, script) => {
    fault(script);
    const leave = new AbortController();
    const reason = new Error("enough");
    const asking = failure(ask(opened, "/projects", { signal: leave.signal }));
    await expect.poll(() => opened.emulator.requests.length).toBe(1);
    expect(opened.emulator.requests[0]?.outcome).toBe("pending");
    leave.abort(reason);
    expect(await asking).toBe(reason);
    await settled("aborted");
  });

  test.each([3_600_000, Infinity])(
    "delayMs delays the response; the operation is carried out on arrival: %d",
    async (delayMs) => {
      fault({ operation: "issues.create", delayMs: 30 });
      expect((await createIssue()).status).toBe(201);
      await settled("completed");

      fault({ operation: "issues.create", delayMs });
      const leave = new AbortController();
      const asking = failure(post(opened, "/projects/web/issues", { json: NEW_ISSUE, signal: leave.signal }));
      await expect.poll(issues).toBe(2);
      await turns(10); // a response that is not delayed comes
      leave.abort();
      expect(await asking).toMatchObject({ name: "AbortError" });
    },
  );

  test("an empty page loses nothing", async () => {
    fault({ operation: "projects.list", skip: 1, times: 2, page: "empty" });
    const pages: number[] = [];
    const seen: string[] = [];
    const cursors = new Set<string>();
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await ask(opened, `/projects?limit=1${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      pages.push(body.data.length);
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.next_cursor;
      if (cursor !== null) cursors.add(cursor);
    }
    expect(pages).toEqual([1, 0, 0, 1, 1]);
    expect(cursors.size).toBe(4);
    expect(seen).toEqual(opened.emulator.projects.list().map(({ id }) => id));
  });

  test("a transform changes the response, and nothing else", async () => {
    const states: unknown[] = [];
    fault({
      operation: "sessions.get",
      transform: (body, request) => {
        states.push(body["state"], request.path);
        body["state"] = "a state of tomorrow";
        return { ...body, added: { deep: [1] } };
      },
    });
    const { id } = opened.emulator.sessions.create("web");
    const response = await ask(opened, `/sessions/${id}`);
    expect(response.body).toEqual({ id, state: "a state of tomorrow", added: { deep: [1] } });
    expect(states).toEqual(["running", `/sessions/${id}`]);
    expect(opened.emulator.sessions.get(id)?.state).toBe("running");
  });

  test("what a transform or a match throws becomes a 500 with its message", async () => {
    fault({
      transform: () => {
        throw new Error("my mistake");
      },
    });
    fault({ skip: 1, transform: () => ({ big: 1n }) });
    for (const message of ["Error: my mistake", "TypeError: Do not know how to serialize a BigInt"]) {
      const { status, body } = await ask(opened, "/projects");
      expect([status, body.error, body.message]).toEqual([500, "emulator_error", message]);
    }
  });

  test.each<[string, object, string]>([
    ["match", { status: 503, match: async () => false }, "what fault.match returns must not be a promise"],
    ["transform", { transform: async () => ({}) }, "what fault.transform returns must not be a promise"],
  ])("a %s that is async becomes a 500 that says so", async (_, script, message) => {
    fault(script);
    const { status, body } = await ask(opened, "/projects");
    expect([status, body.error]).toEqual([500, "emulator_error"]);
    expect(body.message).toContain(message);
  });
});

describe("which requests a fault meets", () => {
  const statuses = async (emulator: ReturnType<typeof createEmulator>, count: number): Promise<number[]> => {
    const opened: Opened = { emulator, fetch: emulator.fetch, [Symbol.asyncDispose]: async () => undefined };
    const statuses: number[] = [];
    for (let index = 0; index < count; index += 1) statuses.push((await ask(opened, "/projects")).status);
    return statuses;
  };

  test("skip and times count the requests that match", async () => {
    const emulator = createEmulator();
    const handle = emulator.fault({ operation: "projects.list", skip: 1, times: 2, status: 500 });
    emulator.fault({ operation: ["sessions.get", "sessions.list"], status: 418, times: Infinity });
    expect(await statuses(emulator, 4)).toEqual([200, 500, 500, 200]);
    expect(handle.hits).toBe(2);
  });

  test("skip counts attempts, also those that met other faults", async () => {
    const emulator = createEmulator();
    emulator.fault({ skip: 2, status: 502 });
    emulator.fault({ status: 500 });
    emulator.fault({ skip: 1, status: 501 });
    expect(await statuses(emulator, 4)).toEqual([500, 501, 502, 200]);
  });

  test("match chooses by the request, and remove ends a fault", async () => {
    const emulator = createEmulator();
    const handle = emulator.fault({ times: Infinity, status: 500, match: ({ attempt }) => attempt % 2 === 0 });
    expect(await statuses(emulator, 4)).toEqual([200, 500, 200, 500]);
    handle.remove();
    handle.remove();
    expect(await statuses(emulator, 2)).toEqual([200, 200]);
    expect(handle.hits).toBe(2);
  });

  describe("only a request that it changed uses a fault up:", () => {
    const DELETED = { method: "DELETE" };
    const open = (options: Parameters<typeof createEmulator>[0] = {}): Opened => {
      const emulator = createEmulator(options);
      return { emulator, fetch: emulator.fetch, [Symbol.asyncDispose]: async () => undefined };
    };
    const token = ({ emulator }: Opened): string => `/me/tokens/${emulator.createToken({ scopes: [] }).id}`;

    test("an empty page needs a list that succeeds", async () => {
      const opened = open({ projects: [{ name: "web" }] });
      const fault = opened.emulator.fault({ page: "empty" });
      await ask(opened, "/sessions/nope");
      await ask(opened, "/projects", { token: "unknown" });
      expect([fault.hits, opened.emulator.requests.map(({ faulty }) => faulty)]).toEqual([0, [false, false]]);
      expect((await ask(opened, "/projects")).body.data).toEqual([]);
      expect((await ask(opened, "/projects")).body.data).toHaveLength(1);
      expect(fault.hits).toBe(1);
    });

    test("a transform needs a JSON object that it changes", async () => {
      const opened = open({ projects: [{ name: "web" }] });
      const fault = opened.emulator.fault({
        transform: (body) => ("data" in body ? { ...body, next_cursor: "again" } : body),
      });
      await ask(opened, token(opened), DELETED);
      await ask(opened, "/sessions/nope");
      expect(fault.hits).toBe(0);
      expect((await ask(opened, "/projects")).body.next_cursor).toBe("again");
      expect((await ask(opened, "/projects")).body.next_cursor).toBeNull();
    });

    test.each<Fault>([{ cutAfterBytes: 0 }, { stallAfterBytes: 0 }, { body: "text" }])(
      "%j needs a body",
      async (script) => {
        const opened = open();
        const fault = opened.emulator.fault(script);
        expect((await ask(opened, token(opened), DELETED)).status).toBe(204);
        expect([fault.hits, opened.emulator.requests[0]?.outcome]).toEqual([0, "completed"]);
      },
    );

    test("a header that is left out must have been there", async () => {
      const opened = open({ rateLimit: { limit: 1 } });
      const fault = opened.emulator.fault({ headers: { "retry-after": null } });
      const seen: unknown[] = [];
      for (let count = 0; count < 3; count += 1) {
        const { status, headers } = await ask(opened, "/projects");
        seen.push([status, headers.has("retry-after"), fault.hits]);
      }
      expect(seen).toEqual([
        [200, false, 0],
        [429, false, 1],
        [429, true, 1],
      ]);
    });
  });

  test("reset ends every fault", async () => {
    const emulator = createEmulator();
    emulator.fault({ times: Infinity, status: 500 });
    emulator.reset();
    expect(await statuses(emulator, 1)).toEqual([200]);
  });

  test.each<[string, unknown, string]>([
    ["nothing", {}, "says nothing that happens"],
    ["only a choice", { operation: "projects.list", times: 3 }, "says nothing that happens"],
    ["an unknown key", { status: 500, retryAfter: 3 }, 'fault must not have the unknown key "retryAfter"'],
    [
      "an unknown operation",
      { operation: "projects.get", status: 500 },
      "fault.operation must be one or several of tokens.create, ",
    ],
    [
      "one wrong of two",
      { operation: ["issues.create", "isues.create"], status: 500 },
      "fault.operation must be one or several of tokens.create, ",
    ],
    ["an operation that is no text", { operation: 7, status: 500 }, "sessions.get, not 7"],
    ["a status of 199", { status: 199 }, "from 200 to 599, not 199"],
    ["a status of 600", { status: 600 }, "from 200 to 599"],
    ["a status of NaN", { status: Number.NaN }, "not NaN"],
    ["times 0", { status: 500, times: 0 }, "fault.times must be a whole number from 1 up, not 0"],
    ["a negative delay", { delayMs: -1 }, "fault.delayMs"],
    ["an unknown drop", { drop: "never" }, "fault.drop must be one of before, after"],
    ["an unknown page", { page: "short" }, "fault.page"],
    ["a drop with a status", { drop: "after", status: 500 }, "drop and status contradict each other"],
    ["a status with a transform", { status: 500, transform: () => 1 }, "status and transform contradict"],
    ["a cut that stalls", { cutAfterBytes: 1, stallAfterBytes: 1 }, "contradict each other"],
    ["apply without a status", { apply: true, delayMs: 1 }, "fault.apply needs fault.status"],
    [
      "a header that HTTP forbids",
      { headers: { "x y": "1" } },
      'fault.headers: "x y" has a name or a value that is not',
    ],
    ["to leave out a header that HTTP forbids", { headers: { "x y": null } }, 'fault.headers: "x y" has a name'],
    ["a header of two lines", { headers: { "retry-after": ["1", "a\nb"] } }, 'fault.headers: "retry-after" has a name'],
    ["a header that is undefined", { headers: { x: undefined } }, 'fault.headers: "x" has a name or a value'],
    ["Headers", { headers: new Headers({ x: "1" }) }, "fault.headers must be a plain object of header fields"],
    ["a body that is no JSON", { status: 200, body: 1n }, "fault.body must be text, bytes or JSON, not a bigint"],
    ["a transform that is no function", { transform: {} }, "fault.transform must be a function"],
    ["null", null, "fault must be an object such as { operation }, not null"],
  ])("a fault that says %s is a TypeError", (_, script, message) => {
    const emulator = createEmulator();
    // What a caller without types may pass.
    const act = (): unknown => emulator.fault(script as Fault);
    expect(act).toThrow(TypeError);
    expect(act).toThrow(message);
  });
});
