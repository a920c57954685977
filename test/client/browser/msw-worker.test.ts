/** The emulator behind a service worker in a real browser. Where there is none, says so; fails if all tests are asked for. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { type Browser, type ConsoleMessage, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NEEDS_ALL } from "../../support/all-tests.ts";
import { bundleForBrowser } from "../../support/browser-bundle.ts";
import { ARGUMENTS, executablePath, WHY_NOT } from "./chromium.ts";
import type { Scenario } from "./page.ts";

/** As strict as a page can be that has a worker: the client and the emulator need nothing more. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self' https://emulator.invalid",
].join("; ");

if (executablePath === undefined && !NEEDS_ALL) console.log(`Not tested in a browser: ${WHY_NOT}.`);

describe.runIf(executablePath !== undefined || NEEDS_ALL)("in a browser, behind a service worker", () => {
  let browser: Browser | undefined;
  let site: Server | undefined;
  let origin: string;

  beforeAll(async () => {
    if (executablePath === undefined) throw new Error(WHY_NOT);
    site = createServer(await siteOf(await bundleForBrowser(`${import.meta.dirname}/page.ts`)));
    site.listen(0, "127.0.0.1");
    await once(site, "listening");
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`; // it listens on a port
    browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  });

  afterAll(async () => {
    await browser?.close();
    site?.closeAllConnections();
    site?.close();
  });

  /**
   * Runs a scenario in a fresh profile; returns its result and the complaints of the browser. A browser notes each
   * request that fails, whoever asked for it: `noted` is how the scenario's own requests do.
   */
  async function run(scenario: Scenario, noted?: string): Promise<{ result: object; complaints: string[] }> {
    if (browser === undefined) throw new Error(WHY_NOT);
    const context = await browser.newContext();
    try {
      const complaints: string[] = [];
      const listen = (message: ConsoleMessage): void => {
        if (!["error", "warning", "assert"].includes(message.type())) return;
        const isNoted = noted !== undefined && message.text() === `Failed to load resource: ${noted}`;
        if (!isNoted) complaints.push(message.text());
      };
      context.on("console", listen);
      context.on("weberror", (error) => complaints.push(error.error().message));
      context.on("serviceworker", (worker) => worker.on("console", listen));
      const page = await context.newPage();
      await page.goto(origin);
      const result = await page.evaluate((name) => globalThis.runInPage(name), scenario);
      return { result, complaints };
    } finally {
      await context.close();
    }
  }

  test("the client walks, page by page", async () => {
    const { result, complaints } = await run("walk");
    const names = [1, 2, 3, 4, 5, 6, 7].map((number) => `project-${number}`);
    expect(result).toEqual({ names, requests: [200, 200, 200], rateLimit: 600 });
    expect(complaints).toEqual([]);
  });

  test("it creates an issue, whatever the project's name", async () => {
    const { result, complaints } = await run("write");
    const issue = { number: 1, title: "Login page is blank ☂", type: "bug", status: "open" };
    expect(result).toEqual({ number: 1, issues: [issue], url: "/api/v1/projects/team%2F%C3%BC%20b/issues" });
    expect(complaints).toEqual([]);
  });

  test("an error response is a typed error", async () => {
    const { result, complaints } = await run("refusal", "the server responded with a status of 403 ()");
    const error = { kind: "permission", outcome: "rejected", status: 403, attempts: 1, isPermission: true };
    expect(result).toEqual(error);
    expect(complaints).toEqual([]);
  });

  test("a rate limit is waited out: every issue once", async () => {
    const { result, complaints } = await run("limit", "the server responded with a status of 429 ()");
    expect(result).toMatchObject({
      numbers: [1, 2, 3, 4, 5, 6, 7, 8],
      stored: 8,
      statuses: [201, 429],
      pauses: ["rate_limit_pause", "rate_limit_resume"],
    });
    expect((result as { pausedMs: number }).pausedMs).toBeGreaterThanOrEqual(1_000);
    expect(complaints).toEqual([]);
  });

  test("a lost response to a write has an unknown outcome, and the write is not retried", async () => {
    const { result, complaints } = await run("drop", "net::ERR_FAILED");
    expect(result).toMatchObject({ kind: "connection", outcome: "unknown", requests: 1, stored: 1 });
    expect(complaints).toEqual([]);
  });

  test("requests to other places reach them", async () => {
    expect(await run("elsewhere")).toEqual({ result: { text: "from the site" }, complaints: [] });
  });

  test("a violation of the page's policy is reported", async () => {
    const { result, complaints } = await run("forbidden");
    expect(result).toEqual({ refused: true });
    expect(complaints.join()).toContain("Content Security Policy");
  });
});

async function siteOf(program: string): Promise<Parameters<typeof createServer>[1] & object> {
  const worker = readFileSync(createRequire(import.meta.url).resolve("msw/mockServiceWorker.js"));
  const html =
    '<!doctype html><html lang="en"><title>Test</title><script type="module" src="/page.js"></script></html>';
  const files: Readonly<Record<string, readonly [type: string, content: string | Buffer]>> = {
    "/": ["text/html; charset=utf-8", html],
    "/page.js": ["text/javascript; charset=utf-8", program],
    "/mockServiceWorker.js": ["text/javascript; charset=utf-8", worker],
    "/elsewhere": ["text/plain", "from the site"],
  };
  return ({ url = "" }, response) => {
    const [type, content] = files[url] ?? ["text/plain", ""];
    response.writeHead(url in files ? 200 : 204, { "content-type": type, "content-security-policy": POLICY });
    response.end(content);
  };
}
