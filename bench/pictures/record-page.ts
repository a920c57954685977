/** Photographs the page of the emulator after 300 issues, one with its answer lost, in light and dark. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { Client } from "../../dist/index.js";
import { startEmulator } from "../../dist/testing/node.js";
import { ARGUMENTS, executablePath, WHY_NOT } from "../../test/client/browser/chromium.ts";
import { PHOTOGRAPHS, root } from "./index.ts";

if (executablePath === undefined) throw new Error(WHY_NOT);
const service = await startEmulator({ page: true, rateLimit: { limit: 50, windowMs: 2_000 } });
const client = new Client(service.clientOptions);
service.emulator.fault({ operation: "issues.create", skip: 298, drop: "after" });
const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
const pages = await Promise.all(
  PHOTOGRAPHS.map(async ([scheme, file]) => {
    const page = await browser.newPage({ colorScheme: scheme, viewport: { width: 960, height: 600 } });
    await page.goto(`${service.page}#?failed`);
    return { page, path: join(root, "docs/assets", file) };
  }),
);
const titles = Array.from({ length: 300 }, (_, at) => `Row ${at + 1}`);
await Promise.allSettled(titles.map((title) => client.issues.create("web", { title, type: "bug" })));
await client.issues.create("none", { title: "Row 301", type: "bug" }).catch(() => undefined);
for (const { page, path } of pages) {
  await page.getByText("there is no such project").waitFor();
  const session = await page.context().newCDPSession(page); // playwright itself writes no WebP
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 85 });
  writeFileSync(path, data, "base64");
}
await browser.close();
await service.close();
