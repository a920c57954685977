/** `not_sent` by what Node's channels show: one course of events. Each row of "no" leaves out, or adds, one thing. */
import { channel } from "node:diagnostics_channel";
import { expect, test, vi } from "vitest";
import { type WriteWatch, watchWrite } from "../../../../src/core/call/write-evidence.ts";
import { rejection } from "../../../support/promises.ts";

const ORIGIN = "https://service.example.com";
const PATH = "/api/v1/projects?x=1";
const WRITE = { method: "POST", origin: ORIGIN, path: PATH };

function watching(): WriteWatch {
  const watch = watchWrite("POST", ORIGIN + PATH);
  if (watch === undefined) throw new Error("Node tells of requests");
  return watch;
}

const create = (request: object = WRITE): object => {
  const made = { ...request };
  channel("undici:request:create").publish({ request: made });
  return made;
};
type Part = "client:sendHeaders" | "request:bodySent";
const leaves = (request: object, part: Part): void => channel(`undici:${part}`).publish({ request });
const byHttp = (when: "created" | "start", method: string): void =>
  channel(`http.client.request.${when}`).publish({ request: { method } });

const notConnected = (): Error => {
  const error = new Error("it has no code");
  channel("undici:client:connectError").publish({ error });
  return error;
};
const ends = (request: object, error: unknown): unknown => {
  channel("undici:request:error").publish({ request, error });
  return error;
};
const later = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
const refused = (request: object): Promise<never> => Promise.reject(ends(request, notConnected()));
/** What undici says of a stream that a GOAWAY has ended. */
const goAway = (message = 'HTTP/2: "GOAWAY" frame received with code 0', code = "UND_ERR_INFO"): Error =>
  Object.assign(new Error(message), { code });
const ofStream = (error: Error, left: Part = "client:sendHeaders"): Promise<never> => {
  const request = create();
  leaves(request, left);
  return Promise.reject(ends(request, error));
};

/** A function that is called as `fetch` is. */
type Course = readonly [string, () => Promise<unknown>];

/** What happens before its request is made, which is refused. */
const before = async (course: () => unknown): Promise<never> => {
  course();
  return await refused(create());
};
/** What happens between its request and the refusal of that. */
const after = async (course: (request: object) => unknown): Promise<never> => {
  const request = create();
  await course(request);
  return await refused(request);
};

/** Begins another write when its request is refused, many microtasks later. */
const beside = (refusal: Promise<unknown>): Promise<unknown> => {
  refusal.catch(async () => {
    for (let turns = 0; turns < 100; turns += 1) await Promise.resolve();
    create({ ...WRITE, path: "/rpc" });
  });
  return refusal;
};

const YES: readonly Course[] = [
  ["its connection is not made", () => refused(create())],
  [
    "its connection is not made, as a socket says in a callback",
    () => new Promise((_, reject) => setImmediate((request) => reject(ends(request, notConnected())), create())),
  ],
  ["a proxy without a tunnel is asked for the whole URL", () => refused(create({ ...WRITE, path: ORIGIN + PATH }))],
  ["a tunnel is asked for", () => before(() => create({ ...WRITE, method: "CONNECT" }))],
  ["it reads beside it", () => after(() => [create({ ...WRITE, method: "GET" }), byHttp("created", "HEAD")])],
  [
    "it wraps the error",
    () => refused(create()).catch((cause: unknown) => Promise.reject(new Error("outer", { cause }))),
  ],
  ["a GOAWAY of HTTP/2 says that its stream was not processed", () => ofStream(goAway())],
];

const NO: readonly Course[] = [
  ["no request is made", () => Promise.reject(notConnected())],
  ["its request is made in a later turn", () => later().then(() => refused(create()))],
  ["it asks by another method", () => refused(create({ ...WRITE, method: "PUT" }))],
  ["it asks another origin", () => refused(create({ ...WRITE, origin: "https://other.example.com" }))],
  ["it asks another path", () => refused(create({ ...WRITE, path: "/api/v1/projects" }))],
  ["it asks twice in the turn", () => before(() => create())],
  ["the second one of two is not made", () => after(() => create())],
  ["another write follows", () => after(() => later().then(() => create({ ...WRITE, path: "/rpc" })))],
  ["another write begins in the turn of the refusal, and it does not wait for that", () => beside(refused(create()))],
  ["another write follows by node:http", () => after(() => byHttp("created", "POST"))],
  ["another write follows by node:http before Node 22.12", () => after(() => byHttp("start", "DELETE"))],
  [
    "a client that it calls writes",
    () => after(() => watching().send(() => void create({ ...WRITE, origin: "https://other.example.com" }))),
  ],
  ["its headers have left", () => after((request) => leaves(request, "client:sendHeaders"))],
  ["its body has left", () => after((request) => leaves(request, "request:bodySent"))],
  ["it fails otherwise", () => Promise.reject(ends(create(), new Error("destroyed")))],
  ["the connection of another request is not made", () => Promise.reject([create(), notConnected()][1])],
  ["it rejects with another error", () => refused(create()).catch(() => Promise.reject(new Error("mine")))],
  [
    "it rejects in a later turn",
    () => refused(create()).catch((error: unknown) => later().then(() => Promise.reject(error))),
  ],
  ["a GOAWAY ends a stream of which no header was seen", () => ofStream(goAway(), "request:bodySent")],
  ["a GOAWAY has the code of a lost connection", () => ofStream(goAway(undefined, "UND_ERR_SOCKET"))],
  ["something else is told of its stream", () => ofStream(goAway("HTTP/2: stream timeout"))],
  ["it rejects with nothing", () => Promise.reject(void create())],
];

async function isUnsent(fetch: () => Promise<unknown>): Promise<boolean> {
  const watch = watching();
  const error = await rejection(watch.send(fetch));
  return await watch.isUnsent(error);
}

test.each(YES)("yes: %s", async (_, fetch) => {
  expect(await isUnsent(fetch)).toBe(true);
});

test.each(NO)("no: %s", async (_, fetch) => {
  expect(await isUnsent(fetch)).toBe(false);
});

test("a turn ends also where a test has replaced what tells so", async () => {
  vi.spyOn(globalThis, "queueMicrotask").mockImplementation(() => undefined);
  vi.spyOn(process, "nextTick").mockImplementation(() => undefined);
  const asked = isUnsent(() => later().then(() => refused(create())));
  for (let microtask = 0; microtask < 100; microtask += 1) await Promise.resolve();
  vi.restoreAllMocks();
  expect(await asked).toBe(false);
});

test("what others publish on the channels breaks nothing", async () => {
  const names = [
    "undici:request:create",
    "undici:client:connectError",
    "undici:request:error",
    "http.client.request.start",
  ];
  const publish = (): void => {
    for (const name of names) for (const message of [undefined, 5, {}, { request: {} }]) channel(name).publish(message);
  };
  expect(await isUnsent(() => before(publish))).toBe(false);
});
