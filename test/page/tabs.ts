/** Real browsers with tabs: Chromium by playwright-core, the stock Firefox by WebDriver BiDi. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { ARGUMENTS, executablePath, WHY_NOT } from "../client/browser/chromium.ts";
import { firefoxPath, makeProfile, WHY_NO_FIREFOX } from "../client/browser/firefox.ts";

/** A tab of a browser. */
export interface Tab {
  open(url: string): Promise<void>;
  /** The value of an expression in the page, as JSON can hold it. A promise is waited for. */
  evaluate<Value>(expression: string): Promise<Value>;
  press(key: string): Promise<void>;
  /** Brings it in front of the other tabs. */
  show(): Promise<void>;
  close(): Promise<void>;
}

export interface Browser extends AsyncDisposable {
  tab(options?: { readonly width?: number; readonly scheme?: "light" | "dark" }): Promise<Tab>;
}

export const BROWSERS: readonly (readonly [
  name: string,
  start: (() => Promise<Browser>) | undefined,
  whyNot: string,
])[] = [
  ["Chromium", executablePath === undefined ? undefined : startChromium, WHY_NOT],
  ["Firefox", firefoxPath === undefined ? undefined : startFirefox, WHY_NO_FIREFOX],
];

async function startChromium(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: executablePath ?? "", args: ARGUMENTS });
  return {
    tab: async ({ width = 1200, scheme = "light" } = {}) => {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
      const page = await context.newPage();
      return {
        open: async (url) => void (await page.goto(url, { waitUntil: "commit" })),
        evaluate: (expression) => page.evaluate(expression),
        press: (key) => page.keyboard.press(key),
        show: () => page.bringToFront(),
        close: () => context.close(),
      };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly message?: string;
}

/** Commands to a browser, and what it replies. */
interface Remote {
  ask<Result>(method: string, params: object): Promise<Result>;
  close(): void;
}

async function connect(url: string): Promise<Remote> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  const waiting = new Map<number, (reply: Reply) => void>();
  let count = 0;
  socket.addEventListener("message", ({ data }: MessageEvent<string>) => {
    const reply = JSON.parse(data) as Reply; // the protocol's
    waiting.get(reply.id ?? 0)?.(reply);
  });
  return {
    ask: async (method, params) => {
      count += 1;
      const id = count;
      const replied = new Promise<Reply>((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ id, method, params }));
      const { result, message } = await replied;
      waiting.delete(id);
      if (message !== undefined) throw new Error(`${method}: ${message}`);
      return result as never; // the caller knows the protocol
    },
    close: () => socket.close(),
  };
}

const KEYS: Readonly<Record<string, string>> = { Enter: "\ue007", Escape: "\ue00c", Space: " ", Tab: "\ue004" };

async function startFirefox(): Promise<Browser> {
  const profile = makeProfile();
  const child = spawn(
    firefoxPath ?? "",
    ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"],
    {
      detached: true, // it has children of its own, which are ended with it
      env: { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: "1" },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let told = "";
  for await (const text of child.stderr.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    told += text;
    if (/listening on ws:\S+\n/.test(told)) break;
  }
  child.stderr.resume(); // a full pipe would stop it
  const [, url = ""] = /listening on (ws:\S+)/.exec(told) ?? [];
  const remote = await connect(`${url}/session`);
  await remote.ask("session.new", { capabilities: {} });
  return {
    tab: async ({ width = 1200 } = {}) => {
      const { context } = await remote.ask<{ context: string }>("browsingContext.create", { type: "tab" });
      await remote.ask("browsingContext.setViewport", { context, viewport: { width, height: 900 } });
      return {
        open: (to) => remote.ask("browsingContext.navigate", { context, url: to, wait: "none" }),
        evaluate: async (expression) => {
          const { result, exceptionDetails } = await remote.ask<{
            result?: { value?: string };
            exceptionDetails?: { text: string };
          }>("script.evaluate", {
            expression: `(async () => JSON.stringify(await (${expression})))()`,
            target: { context },
            awaitPromise: true,
          });
          if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
          return JSON.parse(result?.value ?? "null") as never; // the caller knows its expression
        },
        press: async (key) => {
          const value = KEYS[key] ?? key;
          const actions = [
            { type: "keyDown", value },
            { type: "keyUp", value },
          ];
          await remote.ask("input.performActions", { context, actions: [{ type: "key", id: "keyboard", actions }] });
        },
        show: () => remote.ask("browsingContext.activate", { context }),
        close: () => remote.ask("browsingContext.close", { context }),
      };
    },
    [Symbol.asyncDispose]: async () => {
      remote.close();
      const gone = once(child, "exit");
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      await gone;
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

/** The source of axe-core, which looks for what keeps people out. */
export const AXE: string = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
