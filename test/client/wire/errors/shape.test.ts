import { inspect } from "node:util";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import * as sdk from "../../../../src/client/index.ts";
import { type AutomationError, Client, type ConfigError, isAutomationError } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json, page, text } from "../../../support/replies.ts";
import { BASE, openWire, TOKEN } from "../../../support/scripted-fetch.ts";

const wire = openWire();

const aborted = (reason: unknown): AbortSignal => {
  const controller = new AbortController();
  controller.abort(reason);
  return controller.signal;
};
const failing =
  (thrown: unknown): typeof globalThis.fetch =>
  () =>
    Promise.reject(thrown);
const socketError = Object.assign(new TypeError("fetch failed"), {
  cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", callback: () => {} }),
});

/** One way to each kind of error. */
const WAYS: readonly (readonly [name: string, way: () => Promise<unknown>])[] = [
  ["ConfigError", async () => new Client({ baseUrl: BASE, token: "" })],
  ["ArgumentError", () => wire.client().sessions.get("..")],
  ["ApiError", () => refused(418)],
  ["BadRequestError", () => refused(422)],
  ["AuthenticationError", () => refused(401)],
  ["PermissionDeniedError", () => refused(403)],
  ["NotFoundError", () => refused(404)],
  ["ConflictError", () => refused(409)],
  ["RateLimitError", () => refused(429)],
  ["ServerError", () => refused(500)],
  ["RedirectError", () => refused(302)],
  ["ConnectionError", () => wire.client({ fetch: failing(socketError), retry: false }).sessions.get("s")],
  [
    "TimeoutError",
    () => wire.client({ fetch: () => new Promise(() => {}), timeoutMs: 1, retry: false }).sessions.get("s"),
  ],
  ["AbortError", () => wire.client().sessions.get("s", { signal: aborted(() => "a function cannot be cloned") })],
  ["ResponseParseError", () => answered(text("<html>"))],
  ["ResponseValidationError", () => answered(json({ id: 1 }))],
  ["PaginationError", () => circles()],
  [
    "TokenProviderError",
    () => wire.client({ token: () => Promise.reject(new Error("vault is closed")) }).sessions.get("s"),
  ],
];

function refused(status: number): Promise<unknown> {
  wire.reply(() => json({ error: "code", detail: [1, { two: null }] }, status, { "x-request-id": "r1" }));
  return wire.client({ retry: false }).sessions.get("s");
}

function answered(response: Response): Promise<unknown> {
  wire.script(response);
  return wire.client().sessions.get("s");
}

function circles(): Promise<unknown> {
  wire.reply(() => page(["a"], "A"));
  return wire.client().projects.list().toArray();
}

function classNamed(name: string): typeof ConfigError {
  const found = Object.entries(sdk).find(([key]) => key === name)?.[1];
  return (found ?? expect.fail(`no ${name} is exported`)) as typeof ConfigError; // its name says so
}

async function errorOf(way: () => Promise<unknown>): Promise<AutomationError & { kind: string }> {
  return (await rejection(way())) as AutomationError;
}

describe.each(WAYS)("%s", (name, way) => {
  test("is an Error with its own name, and its class and no other says so", async () => {
    const error = await errorOf(way);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe(name);
    expect(String(error)).toBe(`${name}: ${error.message}`);
    expect(error.stack).toMatch(new RegExp(`^${name}: `));
    expect(isAutomationError(error)).toBe(true);
    const classes = WAYS.map(([one]) => one).filter((one) => one !== "ApiError");
    const matching = classes.filter((one) => error instanceof classNamed(one));
    expect(matching).toEqual(name === "ApiError" ? [] : [name]);
  });

  test("survives structuredClone and postMessage, with its message", async () => {
    const error = await errorOf(way);
    expect(structuredClone(error).message).toBe(error.message);
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(error);
    expect(receiveMessageOnPort(port2)?.message).toMatchObject({ message: error.message });
    port1.close();
  });

  test("toJSON returns the fields and round-trips", async () => {
    const error = await errorOf(way);
    const copy = JSON.parse(JSON.stringify(error)) as Record<string, unknown>;
    expect(copy).toMatchObject({ name, message: error.message, kind: error.kind });
    for (const field of [
      "status",
      "code",
      "method",
      "path",
      "attempts",
      "outcome",
      "requestId",
      "body",
      "cursor",
    ] as const) {
      expect(copy[field]).toEqual(error[field]);
    }
    expect(copy).not.toHaveProperty("stack");
    expect(copy).not.toHaveProperty("rawBody");
  });

  test("prints its fields, and nothing of rawBody", async () => {
    const error = await errorOf(way);
    const printed = inspect(error, { showHidden: true, depth: Number.POSITIVE_INFINITY });
    expect(printed).toContain(`kind: '${error.kind}'`);
    expect(printed).not.toContain("<html>");
    expect(Object.keys(error)).not.toContain("rawBody");
  });
});

test("every exported class is in this table", () => {
  const classes = Object.keys(sdk).filter((name) => name.endsWith("Error") && name !== "isAutomationError");
  expect(classes.sort()).toEqual([...WAYS.map(([name]) => name), "AutomationError"].sort());
});

const reasons: readonly (readonly [string, unknown])[] = [
  ["undefined", undefined],
  ["a function", () => {}],
  ["an Error", new RangeError("mine")],
  ["an object that refers to itself", Object.assign({}, { self: {} })],
  ["an Error with a message that is no text", Object.assign(new Error(), { message: 42n })],
];

describe("for any reason of an abort", () => {
  test.each(reasons)("%s", async (_, reason) => {
    const signal = reason === undefined ? AbortSignal.abort() : aborted(reason);
    const error = (await rejection(wire.client().sessions.get("s", { signal }))) as AutomationError;
    expect(error).toMatchObject({ kind: "abort", name: "AbortError", outcome: "not_sent" });
    expect(error.cause).toBe(signal.reason);
    expect(() => structuredClone(error)).not.toThrow();
    expect(() => JSON.stringify(error)).not.toThrow();
    expect(() => inspect(error)).not.toThrow();
    expect(wire.sent).toHaveLength(0);
  });
});

test("instanceof and the guard accept no other value", () => {
  for (const value of [undefined, null, 1, "x", {}, new Error("x"), Object.create(null), () => {}, { kind: "auth" }]) {
    expect(isAutomationError(value)).toBe(false);
    expect(value instanceof sdk.AutomationError).toBe(false);
  }
});

test("an error of your own making has a message, and then its details", () => {
  const error = new sdk.NotFoundError("404", { status: 404, outcome: "rejected" });
  expect(error).toMatchObject({ message: "404", kind: "not_found", status: 404, outcome: "rejected" });
});

test("a derived class is recognized by its prototype, and may set its name", () => {
  class MyError extends sdk.ApiError {
    constructor(message: string) {
      super(message);
      Object.assign(this, { mine: true });
    }
  }
  const mine = new MyError("m");
  expect(mine).toBeInstanceOf(MyError);
  expect(mine).toBeInstanceOf(sdk.ApiError);
  expect(new sdk.ApiError("m")).not.toBeInstanceOf(MyError);
});

test("an error of a copy in another realm is recognized by its brand", () => {
  const foreign = Object.assign(new Error("m"), { kind: "not_found", [Symbol.for("project-automation.error")]: true });
  expect(foreign).toBeInstanceOf(sdk.NotFoundError);
  expect(foreign).toBeInstanceOf(sdk.ApiError);
  expect(foreign).toBeInstanceOf(sdk.AutomationError);
  expect(foreign).not.toBeInstanceOf(sdk.ServerError);
  expect(TOKEN).not.toBe("");
});
