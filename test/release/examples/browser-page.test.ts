import type { Page } from "playwright-core";
import { type RunningEmulator, startEmulator } from "project-automation/testing/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { executablePath, WHY_NOT } from "../../client/browser/chromium.ts";
import { NEEDS_ALL } from "../../support/all-tests.ts";
import { type OpenPage, type Site, startSite } from "./browser-site.ts";

if (executablePath === undefined && !NEEDS_ALL) console.log(`Not tested in a browser: ${WHY_NOT}.`);

const HANGS = { delayMs: Number.POSITIVE_INFINITY };

interface Shown {
  readonly state: string;
  readonly message: string;
  readonly announcement: string;
  readonly bar: number;
  readonly rows: number;
}

function changesOf<Value>(values: readonly Value[]): Value[] {
  return values.filter((value, index) => value !== values[index - 1]);
}

describe.runIf(executablePath !== undefined || NEEDS_ALL)("the page", { concurrent: true }, () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
  });
  afterAll(() => site.close());

  /** 45 projects, which are five pages. */
  const startService = (): Promise<RunningEmulator> => startEmulator({ projects: 45, sessionsPerProject: 0 });

  async function openFor(service: RunningEmulator, options?: Parameters<Site["open"]>[0]): Promise<OpenPage> {
    const opened = await site.open(options);
    await opened.page.getByLabel("A server").check();
    await opened.page.getByLabel("Base URL").fill(service.baseUrl);
    await opened.page.getByLabel("Token").fill(service.token);
    return opened;
  }

  const press = (page: Page, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
  const isIn = (page: Page, state: string): Promise<void> => page.locator("#chip", { hasText: state }).waitFor();
  const says = (page: Page, text: string): Promise<void> => page.locator("#message", { hasText: text }).waitFor();
  const names = (page: Page): Promise<string[]> => page.locator("#projects li span").allTextContents();
  const namesOf = ({ emulator }: RunningEmulator): string[] => emulator.projects.list().map(({ name }) => name);
  const hasRows = (page: Page, count: number): Promise<void> =>
    page.locator(`#projects li:nth-child(${count})`).waitFor();

  /** Notes what the page shows, at each change of its status from now on. */
  async function watch(page: Page): Promise<() => Promise<Shown[]>> {
    const seen = await page.evaluateHandle(() => {
      const find = (id: string): Element | null => document.querySelector(`#${id}`);
      const all: Shown[] = [];
      const look = (): Shown => ({
        state: find("chip")?.textContent ?? "",
        message: find("message")?.textContent ?? "",
        announcement: find("announcement")?.textContent ?? "",
        bar: Number(find("bar")?.getAttribute("value")),
        rows: document.querySelectorAll("#projects li").length,
      });
      const status = find("status");
      const options = { subtree: true, childList: true, characterData: true, attributes: true };
      if (status !== null) new MutationObserver(() => all.push(look())).observe(status, options);
      return all;
    });
    return () => seen.jsonValue();
  }

  test("shows projects as they come, can be stopped, and brings exactly the rest", async () => {
    await using service = await startService();
    const silence = service.emulator.fault({ skip: 2, ...HANGS });
    await using opened = await openFor(service);
    const { page, complaints } = opened;
    await press(page, "Start");
    await hasRows(page, 20);
    expect(await page.locator("#chip").textContent()).toBe("Running");
    expect(await names(page)).toEqual(namesOf(service).slice(0, 20));
    await press(page, "Stop");
    await isIn(page, "Stopped");
    expect(await page.locator("#message").textContent()).toContain("Stopped after 20 projects in 2 pages");

    silence.remove();
    const before = service.emulator.requests.length;
    await press(page, "Resume");
    await isIn(page, "Done");
    expect(await names(page)).toEqual(namesOf(service));
    expect(service.emulator.requests.slice(before).filter(({ method }) => method === "GET")).toHaveLength(3);
    expect([await page.locator("#items").textContent(), await page.locator("#pages").textContent()]).toEqual([
      "45",
      "5",
    ]);

    await press(page, "Start over");
    await isIn(page, "Done");
    expect(await names(page)).toEqual(namesOf(service));
    expect(complaints).toEqual([]);
  });

  test("counts a pause down, announces it once, and continues by itself", async () => {
    await using service = await startService();
    service.emulator.fault({ skip: 2, status: 429, headers: { "retry-after": "2" } });
    await using opened = await openFor(service);
    const { page, complaints } = opened;
    const seen = await watch(page);
    await press(page, "Start");
    await isIn(page, "Done");
    expect(await names(page)).toEqual(namesOf(service));

    const shown = await seen();
    const pause = shown.filter(({ state }) => state === "Paused");
    expect(new Set(pause.map(({ rows }) => rows))).toEqual(new Set([20]));
    expect(changesOf(pause.map(({ message }) => message)).slice(-2)).toEqual([
      "The rate limit is reached. Going on in 2 s.",
      "The rate limit is reached. Going on in 1 s.",
    ]);
    const bars = changesOf(pause.map(({ bar }) => bar));
    expect(bars).toEqual([...bars].sort((left, right) => right - left));
    expect(bars.length).toBeGreaterThan(5);
    expect(changesOf(shown.map(({ announcement }) => announcement)).filter((text) => text !== "")).toEqual([
      "Running. Reading, one page at a time.",
      expect.stringMatching(/^Paused\. The rate limit is reached\. Going on in [23] s\.$/),
      "Done. That is all: 45 projects in 5 pages.",
    ]);
    expect(complaints).toEqual([]);
  });

  test("an emulator in the page: streams, pauses, and goes on", async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    await page.clock.install();
    await page.reload();
    await page.clock.pauseAt(Date.now() + 60_000); // from here on, time passes only on request
    await press(page, "Start");
    const pass = async (until: string, steps = 100): Promise<void> => {
      await page.clock.runFor(250);
      const state = await page.locator("#chip").textContent();
      expect(steps, `it is ${state}, not ${until}`).toBeGreaterThan(0);
      if (state !== until) await pass(until, steps - 1);
    };
    await pass("Paused");
    expect(await names(page)).toHaveLength(50); // five requests, as its rate limit says
    await pass("Done");
    expect(new Set(await names(page)).size).toBe(80);
    expect(complaints).toEqual([]);
  });

  test("an error says what to do, and trying again continues from the page that failed", async () => {
    await using service = await startService();
    service.emulator.fault({ skip: 3, status: 403 });
    await using opened = await openFor(service);
    const { page } = opened;
    await press(page, "Start");
    await isIn(page, "Error");
    expect(await page.locator("#message").textContent()).toContain("projects:read");
    expect(await names(page)).toHaveLength(30);
    await page.getByLabel("Token").fill("");
    await press(page, "Try again"); // the place is kept, also where nothing could be sent
    await says(page, "These settings cannot be");
    await page.getByLabel("Token").fill("emu_not_known");
    await press(page, "Try again");
    await says(page, "The service does not take this token");
    await page.getByLabel("Token").fill(service.token);
    await press(page, "Try again");
    await isIn(page, "Done");
    expect(await names(page)).toEqual(namesOf(service));
  });

  test("its policy forbids what it does not need: eval, and code in the page", async ({ expect }) => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    const refused = await page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          setTimeout(() => {
            try {
              resolve(typeof new Function("return 1"));
            } catch (error) {
              resolve((error as Error).name); // nothing else is thrown there
            }
          });
        }),
    );
    expect(refused).toBe("EvalError");
    await expect.poll(() => complaints).toContain("policy violation: script-src");
  });
});
