import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Emulator } from "../../src/testing/index.ts";
import { createEmulator } from "../../src/testing/index.ts";

let emulator: Emulator;
let headers: { authorization: string };
beforeEach(() => {
  emulator = createEmulator();
  headers = { authorization: `Bearer ${emulator.token}` };
});

const last = (): Emulator["requests"][number] | undefined => emulator.requests.at(-1);

describe("the fetch of an emulator", () => {
  test("takes what fetch takes, and works detached", async () => {
    const { fetch, baseUrl } = emulator;
    const url = `${baseUrl}/projects?limit=1`;
    expect((await fetch(url, { headers })).status).toBe(200);
    expect((await fetch(new URL(url), { headers })).status).toBe(200);
    expect((await fetch(new Request(url, { headers }))).status).toBe(200);
    expect((await fetch(new Request(url), { headers })).status).toBe(200);
    expect(emulator.requests.map(({ url }) => url)).toEqual(Array(4).fill("/api/v1/projects?limit=1"));
  });

  test("takes a string and an init that holds everything", async () => {
    const { signal } = new AbortController();
    const init: RequestInit = {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ title: "x", type: "bug" }),
      signal,
      redirect: "manual",
    };
    const response = await emulator.fetch(`${emulator.baseUrl}/projects/web/issues`, init);
    expect([response.status, await response.json()]).toMatchObject([201, { title: "x" }]);
    expect(last()).toMatchObject({ method: "POST", text: init.body, operation: "issues.create" });
  });

  test("reads a streamed body, up to the bound", async () => {
    const stream = (chunks: number): RequestInit & { duplex: "half" } => ({
      method: "POST",
      headers,
      duplex: "half",
      body: new ReadableStream({
        start: (controller) => {
          for (let index = 0; index < chunks; index += 1) controller.enqueue(new Uint8Array(1000).fill(0x20));
          controller.enqueue(new TextEncoder().encode('{"title":"x","type":"bug"}'));
          controller.close();
        },
      }),
    });
    const url = `${emulator.baseUrl}/projects/web/issues`;
    expect((await emulator.fetch(url, stream(3))).status).toBe(201);
    expect((await emulator.fetch(url, stream(2000))).status).toBe(413);
  });

  test("the response knows its URL", async () => {
    const url = `${emulator.baseUrl}/projects?limit=1`;
    expect((await emulator.fetch(url, { headers })).url).toBe(url);
  });

  test.each(["https://example.com/api/v1/projects", "http://emulator.invalid/api/v1/projects"])(
    "%s is unreachable",
    async (url) => {
      await expect(emulator.fetch(url)).rejects.toMatchObject({ name: "TypeError", cause: { code: "ENOTFOUND" } });
      expect(emulator.requests).toEqual([]);
    },
  );

  test("a URL that is none rejects, and never throws", async () => {
    await expect(emulator.fetch("/projects")).rejects.toBeInstanceOf(TypeError);
  });

  test("what lies outside of the base is not found", async () => {
    expect((await emulator.fetch("https://emulator.invalid/projects", { headers })).status).toBe(404);
    expect(last()).toMatchObject({ path: "/projects", operation: undefined });
  });

  test("a redirect is handed over, or an error: never followed", async () => {
    emulator.fault({ status: 302, headers: { location: "https://example.com/" }, times: 3 });
    const url = `${emulator.baseUrl}/projects`;
    const manual = await emulator.fetch(url, { redirect: "manual" });
    expect([manual.status, manual.headers.get("location")]).toEqual([302, "https://example.com/"]);
    await expect(emulator.fetch(url)).rejects.toBeInstanceOf(TypeError);
    await expect(emulator.fetch(url, { redirect: "error" })).rejects.toBeInstanceOf(TypeError);
  });
});

describe("a signal", () => {
  const REASONS = [new Error("enough"), "a string", 42, null, undefined];

  test.each(REASONS)("aborted before: rejects with the reason %s, and nothing is sent", async (reason) => {
    const signal = AbortSignal.abort(reason);
    await expect(emulator.fetch(emulator.baseUrl, { signal })).rejects.toBe(signal.reason);
    expect(emulator.requests).toEqual([]);
  });

  test("aborted while the response is delayed: rejects with the reason", async () => {
    emulator.fault({ delayMs: Infinity });
    const leave = new AbortController();
    const asking = emulator.fetch(`${emulator.baseUrl}/projects`, { headers, signal: leave.signal });
    await expect.poll(() => last()?.outcome).toBe("pending");
    leave.abort("enough");
    await expect(asking).rejects.toBe("enough");
    expect(last()?.outcome).toBe("aborted");
  });

  test("shared by many requests gathers no listeners", async () => {
    const { signal } = new AbortController();
    emulator.fault({ times: 100, delayMs: 1 });
    for (let round = 0; round < 3; round += 1) {
      const ask = async (): Promise<unknown> =>
        (await emulator.fetch(`${emulator.baseUrl}/projects`, { headers, signal })).json();
      await Promise.all(Array.from({ length: 100 }, ask));
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("with a clock of the test's", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("a minute passes in no time", async () => {
    emulator.setRateLimit({ limit: 1 });
    const status = async (): Promise<number> =>
      (await emulator.fetch(`${emulator.baseUrl}/projects`, { headers })).status;
    expect([await status(), await status()]).toEqual([200, 429]);
    vi.setSystemTime(Date.now() + 60_000);
    expect(await status()).toBe(200);
  });
});
