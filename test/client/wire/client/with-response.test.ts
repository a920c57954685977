/** What a call returns: a promise, which resolves the result together with its final response where that is asked for. */
import { inspect } from "node:util";
import nodeFetch from "node-fetch";
import { fetch as undiciFetch } from "undici";
import { describe, expect, test } from "vitest";
import {
  type ApiPromise,
  type Client,
  type FetchFunction,
  path,
  type ResponseInfo,
} from "../../../../src/client/index.ts";
import { type Ran, runProgram } from "../../../support/child-program.ts";
import { send, serve } from "../../../support/http-server.ts";
import { rejection } from "../../../support/promises.ts";
import { json, status, tooMany } from "../../../support/replies.ts";
import { BASE, openWire, TOKEN } from "../../../support/scripted-fetch.ts";

const wire = openWire();
const RENEWED = "pat_publickey2_An0therSecretOfTheTests";
const session = (headers: Record<string, string> = {}): Response => json({ id: "s", state: "on" }, 200, headers);
const token = (plaintext = "pat_new_0neT1meSecretOfTheTests"): object => ({
  ...{ id: "t2", plaintext, expires_at: "2300-01-01T00:00:00Z" },
  ...{ name: "n", key_id: "new", scopes: [] },
});

interface Row {
  readonly call: (client: Client) => ApiPromise<unknown>;
  readonly reply: () => Response;
  readonly data: unknown;
  readonly path: string;
}

const PAGE = { data: [{ id: "a", name: "a" }], next_cursor: "c" };
const input = { title: "t", type: "bug" };
const ROWS: Readonly<Record<string, Row>> = {
  "sessions.get": {
    call: (c) => c.sessions.get("s"),
    reply: session,
    data: { id: "s", state: "on" },
    path: "/sessions/s",
  },
  "issues.create": {
    call: (c) => c.issues.create("p", input),
    reply: () => json({ number: 1, title: "t", status: "open" }, 201),
    data: { number: 1, title: "t", status: "open" },
    path: "/projects/p/issues",
  },
  "tokens.rotate": {
    call: (c) => c.tokens.rotate("t"),
    reply: () => json(token(), 201),
    data: token(),
    path: "/me/tokens/t/rotate",
  },
  "tokens.rotate with adopt": {
    call: (c) => c.tokens.rotate("t", { adopt: true }),
    reply: () => json(token(), 201),
    data: token(),
    path: "/me/tokens/t/rotate",
  },
  "tokens.revoke": {
    call: (c) => c.tokens.revoke("t"),
    reply: () => status(204),
    data: undefined,
    path: "/me/tokens/t",
  },
  "a page": {
    call: (c) => c.projects.list({ limit: 1 }, { prefetch: true }).page(),
    reply: () => json(PAGE),
    data: PAGE,
    path: "/projects?limit=1",
  },
  "a POST without a body in its response": {
    call: (c) => c.request({ method: "POST", path: path`/x`, json: {} }),
    reply: () => status(204),
    data: undefined,
    path: "/x",
  },
};

describe.each(Object.entries(ROWS))("%s", (_, { call, reply, data, path: asked }) => {
  const answer = (): Response => {
    const response = reply();
    response.headers.set("x-request-id", "req_7");
    response.headers.set("X-Region", "north");
    return response;
  };

  test("is sent once, whether or not its response is asked for, and as often as it is", async () => {
    wire.reply(answer);
    const promise = call(wire.client());
    const first = await promise.withResponse();
    const second = await promise.withResponse();
    expect(await promise).toBe(first.data);
    expect(wire.sent.map((sent) => sent.path)).toEqual([asked]);
    expect(first.data).toEqual(data);
    expect(second.data).toBe(first.data);
    for (const { response } of [first, second]) {
      const { headers, ...rest } = response;
      expect(rest).toEqual({ status: reply().status, requestId: "req_7", url: `${BASE}${asked}`, attempts: 1 });
      expect(headers).toBeInstanceOf(Headers);
      expect(headers.get("x-region")).toBe("north");
    }
  });

  test("is a promise like any other", async () => {
    wire.reply(answer);
    const promise = call(wire.client());
    expect(promise).toBeInstanceOf(Promise);
    expect(Promise.resolve(promise)).toBe(promise);
    expect(inspect(promise)).toBe("Promise { <pending> }");
    expect(Object.keys(promise)).toEqual([]);
    const derived = [promise.then(), promise.catch(() => undefined), promise.finally(() => undefined)];
    for (const plain of derived) expect(plain).not.toHaveProperty("withResponse");
    const all = await Promise.all([promise, ...derived, Promise.race([promise]), (async () => promise)()]);
    expect(all).toEqual(Array(6).fill(data));
  });

  test("rejects with one error, also with its response", async () => {
    wire.reply(() => json({ error: "no" }, 404, { "x-request-id": "req_8" }));
    const promise = call(wire.client());
    const errors = await Promise.all([rejection(promise.withResponse()), rejection(promise)]);
    expect(errors[0]).toBe(errors[1]);
    expect(errors[0]).toMatchObject({ kind: "not_found", requestId: "req_8" });
    expect(wire.sent).toHaveLength(1);
  });
});

test("the response is the last one, and attempts counts the requests", async () => {
  wire.script(
    json({}, 503, { "x-request-id": "req_1" }),
    tooMany(0),
    session({ "x-request-id": "req_3", "ratelimit-remaining": "41" }),
  );
  const promise = wire.client({ retry: { minDelayMs: 0 } }).sessions.get("s");
  const { response } = await promise.withResponse();
  expect(response).toMatchObject({ status: 200, requestId: "req_3", attempts: 3 });
  expect(response.headers.get("ratelimit-remaining")).toBe("41");
});

test("onResponse is called once, with the same response and a copy of its headers", async () => {
  wire.script(session({ "x-echo": TOKEN, "x-region": "north", "x-request-id": "req_1" }));
  const seen: unknown[] = [];
  const promise = wire.client().sessions.get("s", {
    onResponse: ({ callId, headers, ...rest }) => {
      seen.push({ ...rest, headers: Object.fromEntries(headers) });
      headers.delete("x-region");
    },
  });
  await promise.withResponse();
  const { response } = await promise.withResponse();
  expect(seen).toEqual([{ ...response, headers: Object.fromEntries(response.headers) }]);
  expect(Object.fromEntries(response.headers)).toEqual({
    ...{ "content-type": "application/json" },
    ...{ "x-region": "north", "x-request-id": "req_1" },
  });
});

test("onResponse sees the response of a refusal, without the token that it repeats", async () => {
  wire.script(json({ error: "no" }, 404, { "x-echo": TOKEN, "x-region": "north" }));
  const seen: unknown[] = [];
  const onResponse = ({ status: refused, headers }: ResponseInfo): unknown =>
    seen.push({ refused, ...Object.fromEntries(headers) });
  await rejection(wire.client().sessions.get("s", { onResponse }));
  expect(seen).toEqual([{ refused: 404, "content-type": "application/json", "x-region": "north" }]);
});

test("a response without x-request-id has no requestId, and one with the token in it is redacted", async () => {
  wire.script(session(), session({ "x-request-id": `req-${TOKEN}` }));
  const client = wire.client();
  expect((await client.sessions.get("s").withResponse()).response.requestId).toBeUndefined();
  const { response } = await client.sessions.get("s").withResponse();
  expect(response.requestId).toBe("req-[redacted]");
  expect(response.headers.has("x-request-id")).toBe(false);
});

test("a change of the headers changes nothing for others", async () => {
  wire.script(session({ "x-region": "north" }));
  const promise = wire.client().sessions.get("s");
  (await promise.withResponse()).response.headers.delete("x-region");
  expect((await promise.withResponse()).response.headers.get("x-region")).toBe("north");
});

describe("headers are free of credentials", () => {
  const ECHOES: Readonly<Record<string, string>> = {
    "as it is": TOKEN,
    "in a URL": `https://x/?a=1&t=${encodeURIComponent(TOKEN)}`,
    "cut off": TOKEN.slice(0, -3),
    "of another token of its form": "pat_other_An0therPersonsSecret",
  };

  test.each(Object.entries(ECHOES))("a value with the token %s is left out", async (_, value) => {
    wire.script(session({ "x-echo": value, "x-region": "north" }));
    const { headers } = (await wire.client().sessions.get("s").withResponse()).response;
    expect(Object.fromEntries(headers)).toEqual({ "content-type": "application/json", "x-region": "north" });
  });

  test("set-cookie is left out, whatever it holds", async () => {
    const response = session();
    response.headers.append("set-cookie", "a=1");
    response.headers.append("set-cookie", "b=2");
    wire.script(response);
    const { headers } = (await wire.client().sessions.get("s").withResponse()).response;
    expect([...headers.keys()]).toEqual(["content-type"]);
    expect(headers.getSetCookie()).toEqual([]);
  });

  test("every other value stays as it came, also next to words such as token", async () => {
    const others = {
      link: '<https://x/?page_token=abcdefghijkl>; rel="next"',
      etag: '"33a64df551425fcc"',
      "x-token-expires": "2030-01-01T00:00:00Z",
      "idempotency-key": "key-of-the-caller",
      "x-count": "3",
    };
    wire.script(session(others));
    const client = wire.client({ headers: { "idempotency-key": "key-of-the-caller" } });
    const { headers } = (await client.sessions.get("s").withResponse()).response;
    expect(Object.fromEntries(headers)).toEqual({ "content-type": "application/json", ...others });
  });

  test("of each token that the call was sent with, and of the replacement", async () => {
    const echo = { "x-first": TOKEN, "x-second": RENEWED };
    wire.reply((sent) => {
      if (sent.path.endsWith("/rotate")) return json(token(RENEWED), 201, echo);
      return sent.token === RENEWED ? session(echo) : json({}, 401);
    });
    const provider = ({ rejected }: { rejected?: string | undefined }): string => (rejected ? RENEWED : TOKEN);
    const renewed = await wire.client({ token: provider }).sessions.get("s").withResponse();
    expect(Object.fromEntries(renewed.response.headers)).toEqual({ "content-type": "application/json" });
    const rotated = await wire.client().tokens.rotate("t", { adopt: true }).withResponse();
    expect(rotated.data.plaintext).toBe(RENEWED);
    expect(Object.fromEntries(rotated.response.headers)).toEqual({ "content-type": "application/json" });
  });

  test("nothing that is printed of the promise or its response shows one", async () => {
    wire.script(session({ "x-echo": `Bearer ${TOKEN}`, "set-cookie": "sid=abc" }));
    const promise = wire.client().sessions.get("s");
    const answer = await promise.withResponse();
    const printed = inspect([promise, answer], { depth: Number.POSITIVE_INFINITY, showHidden: true });
    expect(printed).not.toMatch(/s3cr3tTail|sid=abc/);
  });
});

describe("whatever fetch the client has, the headers are those of the platform", () => {
  test.each<[string, FetchFunction]>([
    ["node-fetch", nodeFetch],
    ["undici", undiciFetch],
  ])("%s", async (_, fetch) => {
    const server = await serve((response) => send(response, 200, { id: "s", state: "on" }));
    const client = wire.client({ baseUrl: `${server.origin}/api/v1`, fetch });
    const { headers } = (await client.sessions.get("s").withResponse()).response;
    expect(headers).toBeInstanceOf(Headers);
    expect(headers.get("content-type")).toBe("application/json");
  });

  const stub = (headers: Pick<Headers, "get" | "has">): FetchFunction => {
    return async () => ({ status: 200, headers, text: async () => '{"id":"s","state":"on"}' });
  };

  test("a map of anything: what is no header is left out", async () => {
    const headers = new Map<string, unknown>([
      ["X-Region", "north"],
      ["Set-Cookie", "a=1"],
      ["X-Echo", [TOKEN]],
      ["x count", 1],
      ["x-text", "→"],
      ["x-number", 5],
    ]);
    const client = wire.client({ fetch: stub(headers as unknown as Headers) });
    const { data, response } = await client.sessions.get("s").withResponse();
    expect(data).toEqual({ id: "s", state: "on" });
    expect(Object.fromEntries(response.headers)).toEqual({ "x-number": "5", "x-region": "north" });
  });

  test("headers that can only be asked for by name: none, and the request id", async () => {
    const get = (name: string): string | null => (name === "x-request-id" ? "req_9" : null);
    const client = wire.client({ fetch: stub({ get, has: (name) => get(name) !== null }) });
    const { response } = await client.sessions.get("s").withResponse();
    expect([[...response.headers], response.requestId]).toEqual([[], "req_9"]);
  });
});

describe("a rejection belongs to who takes either promise", () => {
  const rows: readonly (readonly [name: string, calls: string, unhandled: number])[] = [
    ["neither is handled", "get();", 1],
    ["the call is handled", "await get().catch(() => {});", 0],
    ["the response is asked for and handled", "await get().withResponse().catch(() => {});", 0],
    ["the response is asked for, and not handled", "get().withResponse();", 1],
    ["both are handled", "const call = get(); await Promise.allSettled([call, call.withResponse()]);", 0],
    ["an adoption is handled", 'await client.tokens.rotate("t", { adopt: true }).withResponse().catch(() => {});', 0],
    ["an adoption is not handled", 'client.tokens.rotate("t", { adopt: true });', 1],
    [
      "arguments are invalid, and the response is handled",
      'await client.sessions.get("").withResponse().catch(() => {});',
      0,
    ],
    ["arguments are invalid, and nothing is handled", 'client.sessions.get("");', 1],
  ];
  let ran: Promise<Ran> | undefined;

  /** All of them, one after the other, in one process. */
  const runAll = (): Promise<Ran> =>
    runProgram(`
      let unhandled = 0;
      process.on("unhandledRejection", (error) => { unhandled += error.name.endsWith("Error") ? 1 : 100; });
      const fetch = async () => new Response('{"error":"no"}', { status: 404 });
      const client = new Client({ baseUrl: "https://service.example.com/api/v1", token: "t", retry: false, fetch });
      const get = () => client.sessions.get("s");
      const counts = [];
      for (const run of [${rows.map(([, calls]) => `async () => { ${calls} }`).join()}]) {
        unhandled = 0;
        await run();
        await new Promise((resolve) => setTimeout(resolve, 20));
        counts.push(unhandled);
      }
      console.log(JSON.stringify(counts));`);

  test.each(rows.map(([name, , unhandled], index) => ({ name, unhandled, index })))(
    "$name",
    async ({ unhandled, index }) => {
      ran ??= runAll();
      const { stdout, stderr } = await ran;
      expect(stderr).toBe("");
      expect(JSON.parse(stdout)).toHaveProperty(String(index), unhandled);
    },
  );
});
