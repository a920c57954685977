/** The page in real browsers. Where there is none, says so; fails if all tests are asked for. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "../../src/client/index.ts";
import type { RecordedRequest } from "../../src/emulator/request-log.ts";
import { type RunningEmulator, type StartOptions, startEmulator } from "../../src/testing/node.ts";
import { NEEDS_ALL } from "../support/all-tests.ts";
import { AXE, BROWSERS, type Browser, type Tab } from "./tabs.ts";

const withPage = (options?: StartOptions): Promise<RunningEmulator> => startEmulator({ page: true, ...options });
const create = ({ clientOptions }: RunningEmulator, title: string): Promise<unknown> =>
  new Client({ ...clientOptions, retry: false }).issues.create("web", { title, type: "bug" }).catch(() => undefined);

/** Numbers of all in the legend, in its order: accepted, refused, failed, lost; those of the last minute with `b`. */
const legend = (tab: Tab, selector = ".muted"): Promise<readonly number[]> =>
  tab.evaluate(
    `Array.from(document.querySelectorAll("#legend ${selector}"), (one) => Number(one.textContent.replace(/\\D/g, "")))`,
  );
const text = (tab: Tab, selector: string): Promise<string | undefined> =>
  tab.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ""`);
const rows = (tab: Tab): Promise<readonly (readonly string[])[]> =>
  tab.evaluate(
    `Array.from(document.querySelectorAll("#rows tr"), (row) => Array.from(row.cells, (cell) => cell.textContent))`,
  );

async function opened(
  browser: Browser,
  url: string | undefined,
  options?: Parameters<Browser["tab"]>[0],
): Promise<Tab> {
  const tab = await browser.tab(options);
  await tab.open(url ?? "");
  await expect.poll(() => text(tab, "#state").catch(() => "")).toBe("live");
  return tab;
}

/** The same counts by the log. */
function countsOf(requests: readonly RecordedRequest[]): readonly number[] {
  const count = (is: (request: RecordedRequest) => boolean): number => requests.filter(is).length;
  return [
    count(({ status = 0, outcome }) => status < 400 && outcome === "completed"),
    count(({ status = 0, applied }) => !applied && status >= 400 && status < 500),
    count(({ status = 500, applied }) => !applied && status >= 500),
    count(({ status = 500, applied, outcome }) => applied && (status >= 400 || outcome !== "completed")),
  ];
}

describe.each(BROWSERS)("in %s", (name, start, whyNot) => {
  if (start === undefined && !NEEDS_ALL) console.log(`Not tested in ${name}: ${whyNot}.`);
  const inBrowser = test.runIf(start !== undefined || NEEDS_ALL);
  let browser: Browser;
  beforeAll(async () => {
    if (start === undefined && !NEEDS_ALL) return;
    if (start === undefined) throw new Error(whyNot);
    browser = await start();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  inBrowser("the page shows what the log says of 300 issues at 50 in 2 s, one with its answer lost", async () => {
    await using service = await withPage({ rateLimit: { limit: 50, windowMs: 2_000 } });
    const tab = await opened(browser, service.page);
    expect(await text(tab, "#nothing")).toContain("Nothing yet. Send the first request: curl");
    service.emulator.fault({ operation: "issues.create", skip: 120, drop: "after" });
    const client = new Client(service.clientOptions);
    const all = Array.from({ length: 300 }, (_, at) => client.issues.create("web", { title: `${at}`, type: "bug" }));
    const results = await Promise.allSettled(all);
    expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
    const { requests } = service.emulator;
    const counts = countsOf(requests);
    expect([counts[0], counts[3]]).toEqual([299, 1]);
    await expect.poll(() => legend(tab)).toEqual(counts);
    const shown = await rows(tab);
    const fates = (request: RecordedRequest): string =>
      !request.applied
        ? "not carried out: the token has used up its requests of this window"
        : request.outcome === "completed"
          ? "carried out and answered"
          : "carried out, answer lost";
    const logged = requests.map((request) => [
      `${request.status ?? request.outcome}`,
      fates(request),
      request.requestId,
    ]);
    expect(shown.map(([, status = "", , fate, , , id]) => [status.slice(1), fate, id])).toEqual(logged.reverse());
    // The table behind the drawing has the same numbers, as long as all of it is less than a minute ago.
    await tab.evaluate(`document.querySelector("#numbers").open = true`);
    const sums = `Array.from(document.querySelectorAll("#numbers tbody tr"), (row) => Array.from(row.cells, (cell) => Number(cell.textContent)))`;
    await expect
      .poll(async () => {
        const table = await tab.evaluate<readonly (readonly number[])[]>(sums);
        return [1, 2, 3, 4].map((column) => table.reduce((sum, row) => sum + (row[column] ?? 0), 0));
      })
      .toEqual(counts);
    await expect.poll(() => text(tab, "#world-Issues summary")).toBe("Issues (300)");
    expect(await text(tab, "#limit")).toContain("limit 50 in 2 s");
    await expect.poll(() => legend(tab, "b")).toEqual(counts);
    await tab.evaluate("void (Date.now = ((real) => () => real() + 70_000)(Date.now))");
    await expect.poll(() => legend(tab, "b")).toEqual([0, 0, 0, 0]);
    expect(await legend(tab)).toEqual(counts);
    await tab.close();
  });

  inBrowser("says how many of all it shows, filters all, and Tab comes to the first row that is seen", async () => {
    await using service = await withPage({ rateLimit: false });
    const { emulator, baseUrl, clientOptions } = service;
    const send = (path: string): Promise<unknown> =>
      emulator.fetch(baseUrl + path, { headers: { authorization: `Bearer ${clientOptions.token}` } });
    await send("/projects/nowhere/sessions");
    for (let count = 0; count < 599; count += 1) await send("/projects");
    const tab = await opened(browser, service.page);
    await expect.poll(() => text(tab, "#shown")).toBe("500 of 600");
    for (let count = 0; count < 30; count += 1) await send("/projects");
    await expect.poll(() => text(tab, "#shown")).toBe("500 of 630");
    const reached = (): Promise<string> => tab.evaluate(`document.activeElement.closest("tr")?.cells[6].textContent`);
    await tab.evaluate(`document.querySelector("#failed").focus()`);
    await tab.press("Tab");
    expect(await reached()).toBe("req_630");
    await tab.evaluate(`document.querySelector("#failed").focus()`);
    await tab.evaluate(
      `scrollTo({ top: document.querySelectorAll("#rows tr")[290].offsetTop + 400, behavior: "instant" })`,
    );
    const seen = await tab.evaluate(
      `Array.from(document.querySelectorAll("#rows a")).find((one) => one.getBoundingClientRect().top >= 0).closest("tr").cells[6].textContent`,
    );
    expect(seen).toBe("req_339");
    await tab.press("Tab");
    expect(await reached()).toBe(seen);
    await tab.press("/");
    for (const key of "nowhere") await tab.press(key);
    await expect.poll(() => text(tab, "#shown")).toBe("1 of 630");
    expect((await rows(tab)).map((cells) => cells.at(-1))).toEqual(["req_1"]);
    await tab.evaluate(`void (globalThis.unbroken = fetch, fetch = async () => new Response("{"))`);
    await tab.press("x");
    expect(await text(tab, "#nothing")).toBe("Searching …");
    await tab.evaluate("void (fetch = unbroken)");
    await expect.poll(() => text(tab, "#nothing")).toBe("No request in the log passes the filter.");
    await tab.press("Escape");
    await expect.poll(() => text(tab, "#shown")).toBe("500 of 630");
    await tab.close();
  });

  inBrowser("what the service is sent is text, never markup", async () => {
    await using service = await withPage();
    const hostile = [
      "<img src=x onerror='globalThis.ran = 1'>",
      "<script>globalThis.ran = 1</script>",
      "</script><script>globalThis.ran = 1</script>",
      '"><svg onload=globalThis.ran=1>',
      "javascript:globalThis.ran=1",
      "${globalThis.ran = 1}",
      "data: x\n\nevent: snapshot\ndata: {}\n\n",
    ];
    const tab = await opened(browser, service.page);
    for (const title of hostile) await create(service, title);
    service.emulator.createToken({ name: hostile[0], scopes: [hostile[1] ?? ""] });
    service.emulator.projects.create({ name: hostile[2] });
    service.emulator.sessions.create("web", { id: hostile[0], state: hostile[3] });
    await fetch(`${service.baseUrl}/${encodeURIComponent(hostile[0] ?? "")}?${hostile[4]}`);
    await expect.poll(() => legend(tab)).toEqual([hostile.length, 1, 0, 0]);
    await expect.poll(() => text(tab, "#tokens")).toContain("<img src=x onerror=");
    for (const title of hostile) expect(await text(tab, "#world")).toContain(title);
    await tab.evaluate(`void (location.hash = "#req_1")`);
    await expect.poll(() => text(tab, "#detail")).toContain("onerror=");
    expect(
      await tab.evaluate(`[typeof globalThis.ran, document.querySelectorAll("img, svg, main script").length]`),
    ).toEqual(["undefined", 0]);
    await tab.close();
  });

  inBrowser("by keyboard: filters, moves, opens, goes back, stops; the address says where one is", async () => {
    await using service = await withPage({ rateLimit: { limit: 60, windowMs: 300_000 } });
    service.emulator.fault({ operation: "issues.create", skip: 1, drop: "after" });
    service.emulator.fault({ operation: "issues.create", skip: 2, status: 503 });
    const tab = await opened(browser, service.page);
    for (const title of ["one", "two", "three"]) await create(service, title);
    await expect.poll(() => legend(tab)).toEqual([1, 0, 1, 1]);
    const ids = async (): Promise<readonly (string | undefined)[]> => (await rows(tab)).map((cells) => cells.at(-1));
    const hash = (): Promise<string> => tab.evaluate("location.hash");
    await expect.poll(ids).toEqual(["req_3", "req_2", "req_1"]);
    await tab.press("f");
    expect([await ids(), await hash()]).toEqual([["req_3", "req_2"], "#?failed"]);
    await tab.press("j");
    await tab.press("j");
    await tab.press("Enter");
    await expect
      .poll(() => text(tab, "#detail"))
      .toContain("carried out, answer lost: a scripted fault broke the connection");
    expect(await text(tab, "#detail")).toContain("No response: the connection was broken.");
    expect(await hash()).toBe("#req_2?failed");
    expect(await tab.evaluate("document.activeElement.id")).toBe("detail");
    await tab.press("Escape");
    expect(await tab.evaluate(`document.querySelector("#detail").hidden`)).toBe(true);
    expect(await tab.evaluate(`document.activeElement.getAttribute("aria-label")`)).toBe(
      "dropped, carried out, answer lost, POST /projects/web/issues, req_2",
    );
    await tab.press("f");
    await tab.press("/");
    for (const key of "503") await tab.press(key);
    await expect.poll(ids).toEqual(["req_3"]);
    await tab.press("Escape");
    await expect.poll(ids).toHaveLength(3);
    await tab.press("Space");
    await expect.poll(() => text(tab, "#state")).toBe("stopped");
    await create(service, "four");
    const next = await opened(browser, `${service.page}#req_4`);
    await expect.poll(() => text(next, "#detail")).toContain("four");
    expect([await legend(tab), await legend(next)]).toEqual([
      [1, 0, 1, 1],
      [2, 0, 1, 1],
    ]);
    await tab.show();
    await tab.press("Space");
    await expect.poll(() => legend(tab)).toEqual([2, 0, 1, 1]);
    service.emulator.fault({ delayMs: Number.POSITIVE_INFINITY });
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${service.token}` };
    void fetch(`${service.baseUrl}/projects`, { headers, signal: leaving.signal }).catch(() => undefined);
    await tab.evaluate(`void (location.hash = "#req_5?text=nothing")`);
    await expect.poll(() => text(tab, "#detail")).toContain("The response has not left yet.");
    leaving.abort();
    await expect.poll(() => text(tab, "#detail")).toContain("No response: the client left first.");
    for (const seconds of [301, 231, 161]) {
      const left = async (): Promise<number> => Number(/ends in (\d+) s/.exec((await text(tab, "#tokens")) ?? "")?.[1]);
      await expect.poll(left).toBeLessThan(seconds);
      await tab.evaluate("void (Date.now = ((real) => () => real() + 70_000)(Date.now))");
    }
    await Promise.all([tab.close(), next.close()]);
  });

  inBrowser("another origin gets neither the page in a frame nor the stream", async () => {
    await using service = await withPage();
    await create(service, "secret title");
    const { port } = new URL(service.page ?? "");
    const site = createServer((_request, response) => {
      response
        .writeHead(200, { "content-type": "text/html" })
        .end("<!doctype html><title>evil</title><iframe></iframe>");
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => site.once("listening", resolve));
    const tab = await browser.tab();
    await tab.open(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`); // it listens on a port
    await expect.poll(() => tab.evaluate("document.title").catch(() => "")).toBe("evil");
    for (const host of ["127.0.0.1", "localhost"]) {
      const stream = JSON.stringify(`http://${host}:${port}/_emulator/events`);
      expect(await tab.evaluate(`fetch(${stream}).then((one) => one.text(), () => "refused")`)).toBe("refused");
      expect(
        await tab.evaluate(`new Promise((resolve) => {
          const source = new EventSource(${stream});
          source.onerror = () => { source.close(); resolve("refused"); };
          source.addEventListener("snapshot", () => resolve("read"));
        })`),
      ).toBe("refused");
      const framed = await tab.evaluate(`new Promise((resolve) => {
        const frame = document.querySelector("iframe");
        const done = () => { try { resolve(frame.contentDocument === null ? "opaque" : frame.contentDocument.body.textContent); } catch { resolve("opaque"); } };
        frame.onload = done;
        frame.onerror = done;
        frame.src = "http://${host}:${port}/";
      })`);
      expect(framed).toBe("opaque");
    }
    await tab.close();
    site.closeAllConnections();
    site.close();
  });

  inBrowser.each([1200, 360, 320])(
    "at %i px nothing is cut off, and axe finds nothing, in light and dark",
    async (width) => {
      await using service = await withPage({ rateLimit: { limit: 4 } });
      service.emulator.fault({ operation: "issues.create", skip: 1, drop: "after" });
      service.emulator.fault({ operation: "issues.create", skip: 2, status: 503 });
      service.emulator.fault({ operation: "projects.list", drop: "before" });
      service.emulator.projects.create({ name: "a-name-without-end-".repeat(12) });
      for (const title of ["one", "word-without-end-".repeat(12), "three", "four", "five", "six"])
        await create(service, title);
      for (const scheme of ["light", "dark"] as const) {
        const tab = await opened(browser, service.page, { width, scheme });
        await expect.poll(() => legend(tab)).toEqual(countsOf(service.emulator.requests));
        await tab.evaluate(`document.querySelectorAll("details").forEach((one) => { one.open = true; })`);
        await tab.evaluate(`(() => { ${AXE}; return 1; })()`);
        for (const place of ["", "#req_2", "#req_6", "#req_99"]) {
          await tab.evaluate(`void (location.hash = ${JSON.stringify(place)})`);
          await expect.poll(() => tab.evaluate(`document.querySelector("#detail").hidden`)).toBe(place === "");
          expect(await tab.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
          const found = await tab.evaluate(
            `axe.run({ rules: { "target-size": { enabled: true } } }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + " " + target)))`,
          );
          expect(found).toEqual([]);
        }
        await tab.close();
      }
    },
  );
});
