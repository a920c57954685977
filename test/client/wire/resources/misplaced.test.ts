/** Arguments in the wrong place: the error says where they belong. */
import { expect, test } from "vitest";
import { ArgumentError, Client, path } from "../../../../src/client/index.ts";
import { ProjectSchema } from "../../../../src/service/schemas/index.ts";
import { rejection } from "../../../support/promises.ts";
import { openWire, TOKEN } from "../../../support/scripted-fetch.ts";
import { expectClean } from "../../../support/sweep.ts";

const wire = openWire();
type Bad = never; // the types reject it, but callers without types may pass it

const { signal } = new AbortController();
const issue = { title: "t", type: "bug" };
const token = { name: "n", scopes: [] };

const CASES: Readonly<Record<string, readonly [(client: Client) => Promise<unknown>, ...string[]]>> = {
  "a misspelt field of a token": [
    (c) => c.tokens.create({ ...token, expiresInDays: 1 } as Bad),
    'tokens.create: input must not have the unknown key "expiresInDays"',
    "accepted: name, scopes, expires_in_days",
    'did you mean "expires_in_days"?',
  ],
  "a misspelt wire name": [
    (c) => c.tokens.create({ ...token, expire_in_days: 1 } as Bad),
    '"expire_in_days"',
    'did you mean "expires_in_days"?',
  ],
  "a field that an issue does not have": [
    (c) => c.issues.create("p", { ...issue, status: "closed" } as Bad),
    'issues.create: input must not have the unknown key "status" (if your service takes others, pass them in options.extra.json); accepted: title, type',
  ],
  "a misspelt parameter of a list": [
    (c) => c.projects.list({ limits: 5 } as Bad).toArray(),
    'projects.list: params must not have the unknown key "limits" (did you mean "limit"?); accepted: limit, cursor',
  ],
  "a page's name for the cursor": [
    (c) => c.sessions.list("p", { next_cursor: "c" } as Bad).page(),
    'sessions.list: params must not have the unknown key "next_cursor"',
    "(write cursor: the next_cursor of the page before); accepted: limit, cursor",
  ],
  "a misspelt option": [
    (c) => c.sessions.get("s", { timeoutMS: 5 } as Bad),
    '"timeoutMS"',
    'did you mean "timeoutMs"?',
  ],
  "a misspelt option of a wait": [
    (c) => c.sessions.waitFor("s", { untill: () => true } as Bad),
    'sessions.waitFor: options must have until, and not have the unknown key "untill" (did you mean "until"?)',
  ],
  "a signal among a list's parameters": [
    (c) => c.projects.list({ limit: 5, signal } as Bad).toArray(),
    'projects.list: params must not have the unknown key "signal" ("signal" belongs in the last argument, options); accepted: limit, cursor',
  ],
  "a signal in place of a list's parameters": [
    (c) => c.projects.list(signal as Bad).toArray(),
    "projects.list: params",
  ],
  "an option among a token's fields": [
    (c) => c.tokens.create({ ...token, timeoutMs: 5 } as Bad),
    'tokens.create: input must not have the unknown key "timeoutMs"',
    '"timeoutMs" belongs in the last argument, options',
  ],
  "a signal in an issue": [
    (c) => c.issues.create("p", { ...issue, signal } as Bad),
    'issues.create: input must not have the unknown key "signal"',
    '"signal" belongs in the last argument, options',
  ],
  "prefetch among parameters": [
    (c) => c.projects.list({ prefetch: true } as Bad).toArray(),
    '"prefetch" belongs in the last argument, options',
  ],
  "a limit among options": [
    (c) => c.projects.list({}, { limit: 5, signal } as Bad).toArray(),
    'projects.list: options must not have the unknown key "limit"',
    '"limit" belongs in the argument before, params',
  ],
  "a signal in a custom request": [
    (c) => c.request({ method: "GET", path: path`/x`, signal } as Bad),
    'request must not have the unknown key "signal"',
    '"signal" belongs in the last argument, options',
  ],
  "a body by another name": [
    (c) => c.request({ method: "POST", path: path`/x`, body: {} } as Bad),
    'request must not have the unknown key "body" (did you mean "json"?); accepted: method, path, query, json, schema',
  ],
  "headers in a custom list": [
    (c) => c.paginate({ path: path`/x`, schema: ProjectSchema, headers: {} } as Bad).toArray(),
    'paginate: list must not have the unknown key "headers"',
    '"headers" belongs in the last argument, options',
  ],
  "a misspelt query": [
    (c) => c.paginate({ path: path`/x`, schema: ProjectSchema, querry: {} } as Bad).toArray(),
    'did you mean "query"?',
  ],
};

test.each(Object.entries(CASES))("%s is refused, and the message says what is accepted", async (_, [call, ...said]) => {
  const error = (await rejection(call(wire.client()))) as Error;
  expect(error).toBeInstanceOf(ArgumentError);
  for (const text of said) expect(error.message).toContain(text);
  expect(error).toMatchObject({ outcome: "not_sent" });
  expect(wire.sent).toHaveLength(0);
});

test("each option of a client, in the options of a call, belongs in those of the client", async () => {
  const names = (await rejection(Promise.resolve().then(() => new Client({ unknown: 1 } as Bad)))) as Error;
  const ofClient = /accepted: (.*)/.exec(names.message)?.[1]?.split(", ") ?? [];
  const ofCall = "signal timeoutMs totalTimeoutMs retry headers extra onRequest onResponse".split(" ");
  const others = ofClient.filter((name) => !ofCall.includes(name));
  expect(others).toEqual(expect.arrayContaining(["baseUrl", "token", "instrumentation", "maxResponseBytes"]));
  for (const name of others) {
    const error = (await rejection(wire.client().sessions.get("s", { [name]: 1 }))) as Error;
    expect(error.message).toContain(`"${name}" belongs in the options of the client`);
  }
});

test.each([TOKEN, `X-${TOKEN}`, "x".repeat(41), "x".repeat(5_000), "\u001b[31m"])(
  "a key that may be a secret is not shown: %j",
  async (key) => {
    const error = await rejection(wire.client().tokens.create({ ...token, [key]: 1 }));
    expect(error).toBeInstanceOf(ArgumentError);
    expectClean(error, [key]);
  },
);

test("an error for a cursor that cannot be encoded names the parameter", async () => {
  const error = (await rejection(wire.client().projects.list({ cursor: "a\ud800" }).toArray())) as Error;
  expect(error).toBeInstanceOf(ArgumentError);
  expect(error.message).toContain("projects.list: params.cursor must be a non-empty string of well-formed Unicode");
});
