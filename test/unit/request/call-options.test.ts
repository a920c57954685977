import { expect, test } from "vitest";
import { ArgumentError, type CallOptions } from "../../../src/index.ts";
import { copyOptions, settingsOf } from "../../../src/request/call-options.ts";
import { DEFAULT_RETRY } from "../../../src/request/settings.ts";

const client = {
  timeoutMs: 30_000,
  totalTimeoutMs: Infinity,
  retry: DEFAULT_RETRY,
  headers: { accept: "application/json", "x-a": "1" },
};

test("a call without options uses the settings of its client", () => {
  expect(settingsOf(undefined, client)).toEqual(client);
  expect(settingsOf({}, client)).toEqual(client);
  expect(settingsOf({ timeoutMs: undefined, retry: undefined, headers: undefined }, client)).toEqual(client);
});

test("the options of a call are merged with those of its client", () => {
  const { signal } = new AbortController();
  const onResponse = (): void => {};
  const options: CallOptions = { signal, onResponse, timeoutMs: false, totalTimeoutMs: 5, retry: { attempts: 9 } };
  expect(settingsOf({ ...options, headers: { "X-A": "2", "x-b": "3" } }, client)).toEqual({
    signal,
    onResponse,
    timeoutMs: Infinity,
    totalTimeoutMs: 5,
    retry: { ...DEFAULT_RETRY, attempts: 9 },
    headers: { accept: "application/json", "x-a": "2", "x-b": "3" },
  });
  expect(settingsOf({ retry: false }, client).retry).toBe(false);
  expect(settingsOf({ retry: { attempts: 2 } }, { ...client, retry: false }).retry).toEqual({
    ...DEFAULT_RETRY,
    attempts: 2,
  });
});

test("an AbortSignal of another realm is accepted, an object with some of its members is not", () => {
  const { signal } = new AbortController();
  const foreign = { aborted: false, addEventListener() {}, removeEventListener() {} } as unknown as AbortSignal;
  expect(settingsOf({ signal }, client).signal).toBe(signal);
  expect(settingsOf({ signal: foreign }, client).signal).toBe(foreign);
  for (const bad of [
    null,
    {},
    { aborted: false },
    { addEventListener() {} },
    { aborted: false, addEventListener() {} },
    new AbortController(),
    "signal",
  ]) {
    expect(() => settingsOf({ signal: bad as never }, client)).toThrow(ArgumentError);
  }
});

test("a copy does not change with its original", () => {
  const options = { timeoutMs: 5, retry: { attempts: 1 }, headers: { "X-A": "1" } };
  const copy = copyOptions<CallOptions>(options, "options", {});
  options.timeoutMs = 6;
  options.retry.attempts = 2;
  options.headers["X-A"] = "2";
  expect(copy).toEqual({ timeoutMs: 5, retry: { attempts: 1 }, headers: { "x-a": "1" } });
});
