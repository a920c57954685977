/** A program whose `Object.prototype` has been given properties of the names that the client reads. */
import { afterEach, expect, test } from "vitest";
import { ConfigError } from "../../../src/index.ts";
import { good } from "../../support/replies.ts";
import { scriptedFetch } from "../../support/scripted-fetch.ts";

const pollute = (name: string): void => {
  Object.defineProperty(Object.prototype, name, { value: "polluted", configurable: true, writable: true });
};

let polluted: string | undefined;
afterEach(() => {
  if (polluted !== undefined) Reflect.deleteProperty(Object.prototype, polluted);
});

test.each(["method", "headers", "body", "signal", "redirect", "credentials"])(
  "%s is not taken for an option of fetch that the caller has set",
  (name) => {
    const service = scriptedFetch(good);
    polluted = name;
    pollute(name);
    expect(() => service.client({ fetchOptions: { cache: "no-store" } })).not.toThrow();
  },
);

test("cause is not taken for the cause of an error", () => {
  polluted = "cause";
  pollute("cause");
  expect(Object.hasOwn(new ConfigError("message", {}), "cause")).toBe(false);
});
