/** The example's page as a site: bundled from what is built, at an address of its own, in a real browser. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { ARGUMENTS, executablePath, WHY_NOT } from "../../client/browser/chromium.ts";
import { bundleForBrowser } from "../../support/browser-bundle.ts";

const FOLDER = resolve(import.meta.dirname, "../../../examples/browser");

export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** What the browser complained of, besides refusals of the service: those are the page's to show. */
  readonly complaints: readonly string[];
}

export interface Site {
  open(options?: BrowserContextOptions): Promise<OpenPage>;
  close(): Promise<void>;
}

export async function startSite(): Promise<Site> {
  if (executablePath === undefined) throw new Error(WHY_NOT);
  const files: Readonly<Record<string, readonly [type: string, content: string]>> = {
    "/": ["text/html", readFileSync(`${FOLDER}/index.html`, "utf8")],
    "/style.css": ["text/css", readFileSync(`${FOLDER}/style.css`, "utf8")],
    "/main.ts": ["text/javascript", await bundleForBrowser(`${FOLDER}/main.ts`)],
  };
  const server = createServer(({ url = "" }, response) => {
    const [type, content] = files[url] ?? ["text/plain", ""];
    response.writeHead(url in files ? 200 : 404, { "content-type": `${type}; charset=utf-8` }).end(content);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  return {
    open: async (options) => {
      const context = await browser.newContext(options);
      const complaints: string[] = [];
      context.on("console", (message) => {
        const isRefusal = /^Failed to load resource: the server responded with a status of 4\d\d/.test(message.text());
        if (["error", "warning", "assert"].includes(message.type()) && !isRefusal) complaints.push(message.text());
      });
      context.on("weberror", (error) => complaints.push(error.error().message));
      // A violation that the program catches is reported by this event alone.
      await context.addInitScript(() => {
        document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
          console.error(`policy violation: ${effectiveDirective}`);
        });
      });
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${port}/`);
      return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
    },
    close: async () => {
      await browser.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
