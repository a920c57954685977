/** The suite in real browsers: one page, which runs it and has a worker run it too. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { chromium } from "playwright-core";
import { PROGRAM_LIMIT_MS } from "../../support/limits.ts";
import { ARGUMENTS } from "../browser/chromium.ts";
import { makeProfile } from "../browser/firefox.ts";
import type { Runtime } from "./binaries.ts";
import type { Ran } from "./processes.ts";
import type { Report, Settings } from "./programs/run.ts";

export interface BrowserRun {
  readonly runtime: Runtime;
  /** Of the page and its worker. */
  readonly settings: readonly Settings[];
  readonly reports: readonly Promise<Report>[];
}

export async function runBrowser({ runtime, settings, reports }: BrowserRun): Promise<readonly Ran[]> {
  const [page, worker] = settings;
  const query = new URLSearchParams({ page: JSON.stringify(page), worker: JSON.stringify(worker) });
  const url = `${page?.origin}/site/page.html?${query}`;
  const timer = deadline();
  const pending = reports.map((report) => Promise.race([report, timer.reached]));
  try {
    return runtime.kind === "chromium"
      ? await inChromium(runtime, url, pending)
      : await inFirefox(runtime, url, pending);
  } finally {
    timer.clear();
  }
}

/** Opens a page until its report is in; `undefined` if the browser ends before. */
export async function visit<Said>(
  { kind, executable }: Runtime,
  url: string,
  report: Promise<Said>,
): Promise<Said | undefined> {
  if (kind === "firefox") return (await openFirefox(executable, url, [report]))[0];
  const browser = await chromium.launch({ executablePath: executable, args: ARGUMENTS });
  try {
    await (await browser.newPage()).goto(url);
    return await report;
  } finally {
    await browser.close();
  }
}

type Pending = readonly Promise<Report | undefined>[];

async function inChromium({ executable }: Runtime, url: string, pending: Pending): Promise<readonly Ran[]> {
  const browser = await chromium.launch({ executablePath: executable, args: ARGUMENTS });
  try {
    const context = await browser.newContext();
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    await page.goto(url);
    const [inPage, inWorker] = await Promise.all(pending);
    await context.setOffline(true);
    const offline = await page.evaluate(() => globalThis.tellOfCall(`${location.origin}/api/v1`));
    const ran = { printed: errors.join("\n"), ended: "by itself" };
    return [
      { ...ran, report: inPage, offline },
      { ...ran, report: inWorker },
    ];
  } finally {
    await browser.close();
  }
}

async function inFirefox({ executable }: Runtime, url: string, pending: Pending): Promise<readonly Ran[]> {
  const reports = await openFirefox(executable, url, pending);
  return reports.map((report) => ({ report, printed: "", ended: "by itself" }));
}

/** The stock browser speaks to the harness by its reports alone: it opens the page, and is ended when they are in. */
async function openFirefox<Said>(
  executable: string,
  url: string,
  pending: readonly Promise<Said>[],
): Promise<readonly (Said | undefined)[]> {
  const profile = makeProfile();
  const child = spawn(executable, ["--headless", "--no-remote", "--profile", profile, url], {
    detached: true, // it has children of its own, which are ended with it
    env: { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: "1" },
    stdio: "ignore",
  });
  const gone = once(child, "exit");
  const early = gone.then(() => undefined);
  try {
    return await Promise.all(pending.map((one) => Promise.race([one, early])));
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    await gone;
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

function deadline(): { readonly reached: Promise<undefined>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const reached = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PROGRAM_LIMIT_MS);
  });
  return { reached, clear: () => clearTimeout(timer) };
}
