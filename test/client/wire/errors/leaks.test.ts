import { describe, expect, test } from "vitest";
import {
  type AutomationError,
  Client,
  type ClientEvent,
  isAutomationError,
  path,
} from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json, text } from "../../../support/replies.ts";
import { BASE, openWire, TOKEN } from "../../../support/scripted-fetch.ts";
import { expectClean, textsOf } from "../../../support/sweep.ts";

const wire = openWire();
type C = Client;

const SECRET_PART = "s3cr3tTailOfTheToken";
const PLAINTEXT = "pat_newpublic_0neT1meSecretThatIsNeverShownAgain";
const HEADER = "x-internal-value-of-a-header";
const SECRETS = [TOKEN, SECRET_PART, PLAINTEXT, HEADER];
const created = {
  id: "t",
  name: "n",
  key_id: "k",
  scopes: [],
  expires_at: "2030-01-01T00:00:00Z",
  plaintext: PLAINTEXT,
};

const create = (client: C): Promise<unknown> => client.tokens.create({ name: "n", scopes: [] });
const rotate = (client: C): Promise<unknown> => client.tokens.rotate("t");
const get = (client: C): Promise<unknown> => client.sessions.get("s");
const walk = (client: C): Promise<unknown> => client.projects.list().toArray();

/** The responses of a careless service or proxy: they contain the credential in every possible place. */
function echo(status: number): Response {
  const body = {
    error: `bad_token_${TOKEN}`,
    message: `Authorization: Bearer ${TOKEN} was refused`,
    tail: SECRET_PART,
    request: { headers: { authorization: `Bearer ${TOKEN}` } },
    [TOKEN]: [TOKEN, { [`k${TOKEN}`]: SECRET_PART }],
    plaintext: PLAINTEXT,
    token: PLAINTEXT,
  };
  return json(body, status, {
    "x-request-id": `req-${TOKEN}`,
    "x-echo": HEADER,
    "www-authenticate": `Bearer realm="${TOKEN}"`,
  });
}

describe("an error contains no secret", () => {
  test.each([300, 400, 401, 403, 404, 409, 418, 422, 429, 500, 503])(
    "of a %i that echoes the credential",
    async (status) => {
      for (const call of [create, rotate, get, walk]) {
        wire.reply(() => echo(status));
        const error = (await rejection(call(wire.client({ retry: false })))) as AutomationError;
        expect(error.status).toBe(status);
        expect(error.body).toBeDefined();
        expectClean(error, SECRETS);
      }
    },
  );

  test("of an error response whose text echoes the credential", async () => {
    wire.script(text(`<pre>GET /x\nauthorization: Bearer ${TOKEN}</pre>`, 502, { "content-type": "text/html" }));
    const error = (await rejection(get(wire.client({ retry: false })))) as AutomationError;
    expect(error.body).toContain("[redacted]");
    expectClean(error, SECRETS);
  });

  test.each([
    ["a page", `<pre>{"plaintext": "${PLAINTEXT}"}</pre>`],
    ["text", `created token ${PLAINTEXT}, but the mail failed`],
    ["cut JSON", `{"plaintext":"${PLAINTEXT}"`],
    ["JSON that tells it elsewhere", JSON.stringify({ error: "internal", detail: `created ${PLAINTEXT}` })],
  ])("of a refusal that is %s and has a one-time secret", async (_, body) => {
    wire.script(text(body, 500));
    const error = await rejection(rotate(wire.client()));
    expect(error).toMatchObject({ kind: "server" });
    expectClean(error, [PLAINTEXT]);
  });

  test("of a call that received a 401 with one token and then another", async () => {
    const other = "pat_second_An0therSecretOfTheClient";
    let asked = 0;
    wire.reply(() => json({ error: `${TOKEN} ${other}` }, 401));
    const client = wire.client({ token: () => (asked++ === 0 ? TOKEN : other) });
    expectClean(await rejection(get(client)), [...SECRETS, other, "An0therSecretOfTheClient"]);
    expect(wire.sent).toHaveLength(2);
  });

  test.each([
    ["a body cut in the middle", text(`{"plaintext":"${PLAINTEXT}`), "parse"],
    ["no JSON", text(`tok ${PLAINTEXT} ${TOKEN}`), "parse", "unknown"],
    ["an unquoted value", text(`{"plaintext": ${PLAINTEXT}}`), "parse"],
    [
      "a content type that holds it",
      text("no JSON at all", 200, { "content-type": `text/${TOKEN}` }),
      "parse",
      "unknown",
    ],
    ["another shape", json({ ...created, id: 7, scopes: TOKEN, expires_at: PLAINTEXT }), "validation"],
    ["the secret as a key", json({ [PLAINTEXT]: 1, [TOKEN]: { plaintext: PLAINTEXT } }), "validation"],
    ["an array", json([PLAINTEXT]), "validation"],
    ["a string", json(PLAINTEXT), "validation"],
  ])("of a 2xx with %s, which only rawBody still has", async (...[, response, kind, outcome = "accepted"]) => {
    const raw = await response.clone().text();
    for (const call of [create, rotate]) {
      wire.reply(() => response.clone());
      const error = (await rejection(call(wire.client()))) as AutomationError;
      expect(error).toMatchObject({ kind, outcome, status: 200 });
      expect(error.rawBody).toBe(raw);
      expectClean(error, SECRETS, ["rawBody"]);
      expect(error.message).not.toContain(raw);
    }
  });

  test.each([
    ["an Error whose message quotes it", new Error(`bad header value "Bearer ${TOKEN}"`)],
    [
      "an Error with the request on it",
      Object.assign(new TypeError("x"), { request: new Request(BASE, { headers: { a: TOKEN } }) }),
    ],
    ["an Error with headers on it", Object.assign(new Error("x"), { headers: new Headers({ authorization: TOKEN }) })],
    [
      "an Error with plain headers on it",
      Object.assign(new Error("x"), { config: { headers: { Authorization: `Bearer ${TOKEN}` } } }),
    ],
    ["a string", `could not send Bearer ${TOKEN}`],
    ["an object that refers to itself", cyclic()],
    ["a symbol key", { [Symbol("hidden")]: TOKEN }],
    ["a symbol that describes it", Symbol(TOKEN)],
    ["a function that holds it", Object.assign(() => {}, { token: TOKEN })],
  ])("of a fetch that rejects with %s", async (_, thrown) => {
    const fetch: typeof globalThis.fetch = () => Promise.reject(thrown);
    const error = (await rejection(create(wire.client({ fetch, retry: false })))) as AutomationError;
    expect(error.kind).toBe("connection");
    expectClean(error, SECRETS);
  });

  test("of a fetch whose error has a code that contains the token", async () => {
    const fetch: typeof globalThis.fetch = () => Promise.reject(Object.assign(new Error("x"), { code: TOKEN }));
    const error = (await rejection(get(wire.client({ fetch })))) as AutomationError;
    expect(error.kind).toBe("connection");
    expectClean(error, SECRETS);
  });

  test("of a body that breaks with an error that quotes it", async () => {
    const body = new ReadableStream({ pull: (stream) => stream.error(new Error(`cut at ${TOKEN}`)) });
    const fetch: typeof globalThis.fetch = async () => new Response(body, { status: 201 });
    const error = await rejection(create(wire.client({ fetch, retry: false })));
    expect(error).toMatchObject({ kind: "connection", outcome: "unknown" });
    expectClean(error, SECRETS, ["rawBody"]);
  });

  test.each([
    [
      "throws its argument",
      ({ rejected }: { rejected?: string }) => {
        throw new Error(`cannot replace ${rejected}`);
      },
    ],
    [
      "rejects with its argument",
      async (context: { rejected?: string }) => Promise.reject(Object.assign(new Error("no"), { context })),
    ],
    ["gives it with a line break", () => `${TOKEN}\n`],
    ["gives it with the scheme", () => `Bearer ${TOKEN}`],
    ["gives an object", () => ({ access_token: TOKEN }) as never],
  ])("of a provider that %s", async (_, provider) => {
    let asked = 0;
    wire.reply(() => json({}, 401));
    const token = (context: { signal: AbortSignal; rejected?: string }): string | Promise<string> =>
      asked++ === 0 ? TOKEN : provider(context);
    const error = (await rejection(get(wire.client({ token })))) as AutomationError;
    expect(error).toMatchObject({ kind: "token_provider", name: "TokenProviderError" });
    expectClean(error, SECRETS);
  });

  test.each([
    ["echoes the client's token", `no ${TOKEN}`],
    ["quotes the one-time secret", `bad value "${PLAINTEXT}"`],
  ])("of a schema that throws and %s", async (_, message) => {
    wire.script(json(created, 201));
    const validate = (): never => {
      throw new TypeError(message);
    };
    const schema = { "~standard": { version: 1, vendor: "test", validate } } as const;
    const error = (await rejection(
      wire.client().request({ method: "POST", path: path`/me/tokens`, json: {}, schema }),
    )) as AutomationError;
    expect(error.kind).toBe("validation");
    expect(error.cause).toBeInstanceOf(TypeError);
    expectClean(error, SECRETS, ["rawBody"]);
  });

  test("of a wait whose last session echoes the credential, except in `session`", async () => {
    const session = { id: "s", state: `failed for ${TOKEN}`, env: { [TOKEN]: PLAINTEXT } };
    const controller = new AbortController();
    const wait = (until: () => boolean): Promise<unknown> =>
      rejection(wire.client().sessions.waitFor("s", { until, intervalMs: 1, signal: controller.signal }));
    wire.script(json(session), json({}, 404), json(session));
    const failed = await wait(() => false);
    const aborted = await wait(() => {
      controller.abort();
      return false;
    });
    for (const error of [failed, aborted]) {
      expect(error).toMatchObject({ session });
      expectClean(error, SECRETS, ["session"]);
    }
  });

  test("of arguments and options", async () => {
    const errors = [
      rejection((async () => new Client({ baseUrl: BASE, token: `${TOKEN} ` }))()),
      rejection((async () => new Client({ baseUrl: BASE, token: `${TOKEN}\r\nx: ${SECRET_PART}` }))()),
      rejection((async () => new Client({ baseUrl: `https://u:${TOKEN}@h.example/api`, token: "t" }))()),
      rejection((async () => new Client({ baseUrl: BASE, token: "t", headers: { "x-a": `${TOKEN}\n${TOKEN}` } }))()),
      rejection((async () => new Client({ token: TOKEN, [TOKEN]: 1 } as never))()),
      rejection((async () => wire.client().setToken(`${TOKEN} `))()),
      rejection(wire.client().sessions.get("s", { [TOKEN]: 1 } as never)),
      rejection(wire.client().request({ method: "GET", path: `/x?token=${TOKEN}` as never })),
      rejection(wire.client().sessions.get({ id: TOKEN } as never)),
    ];
    for (const error of await Promise.all(errors)) {
      expect(isAutomationError(error)).toBe(true);
      expectClean(error, [TOKEN, SECRET_PART]);
    }
    expect(wire.sent).toHaveLength(0);
  });
});

function cyclic(): object {
  const one: Record<string, unknown> = { authorization: TOKEN };
  one["self"] = one;
  return one;
}

test("a client exposes no secret", async () => {
  wire.reply(() => json({ id: "s", state: "on" }));
  const client = wire.client({ headers: { "x-own": HEADER }, token: TOKEN });
  await client.sessions.get("s");
  const list = client.projects.list();
  for (const value of [
    client,
    client.withOptions({ retry: false }),
    client.tokens,
    client.sessions,
    list,
    list.pages(),
    client.rateLimit,
  ]) {
    expectClean(value, SECRETS);
    expect(String(value)).not.toContain(TOKEN);
  }
});

test("no event and no line of a log holds a secret", async () => {
  const events: ClientEvent[] = [];
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const logger = { debug: log, info: log, warn: log, error: log };
  wire.reply(({ path, method }) => {
    if (path.endsWith("/rotate")) return echo(500);
    if (method === "POST") return json({ ...created, id: 1, [TOKEN]: TOKEN }, 201);
    return method === "DELETE" ? text(TOKEN) : echo(503);
  });
  const client = wire.client({
    onEvent: (event) => events.push(event),
    logger,
    logLevel: "debug",
    validation: "lenient",
    retry: { minDelayMs: 0 },
  });
  await create(client);
  await rejection(rotate(client));
  await create(client);
  await rejection(get(client));
  await rejection(client.tokens.revoke(SECRET_PART));
  expect(events.map(({ type }) => type)).toContain("drift");
  // All but the ends of calls that went well are lines.
  expect(lines.length).toBeGreaterThanOrEqual(events.filter((event) => event.type !== "end" || !event.ok).length);
  expectClean(events, SECRETS);
  expectClean(lines, SECRETS);
  expect(textsOf(events).join()).not.toContain("Bearer");
});
