/** Records the picture of the page: 300 issues are created at once, and one answer is lost. */

import { writeFileSync } from "node:fs";
import { Client } from "../../dist/index.js";
import { startEmulator } from "../../dist/testing/node.js";
import type { PageEvent } from "../../src/page/events.ts";
import type { RecordedPage } from "./page.ts";

const ISSUES = 300;
const service = await startEmulator({ page: true, rateLimit: { limit: 50, windowMs: 2_000 } });
const response = await fetch(new URL("/_emulator/events", service.page));
const client = new Client(service.clientOptions);
const titles = Array.from({ length: ISSUES }, (_, at) => `Row ${at + 1}`);
service.emulator.fault({ operation: "issues.create", skip: 280, drop: "after" });
await Promise.allSettled(titles.map((title) => client.issues.create("web", { title, type: "bug" })));

/** The first snapshot of a stream. */
async function snapshotOf({ body }: Response): Promise<Extract<PageEvent, { type: "snapshot" }>> {
  let text = "";
  for await (const chunk of (body ?? new ReadableStream<never>()).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const [, json] = /^event: snapshot\ndata: (.+)\n\n/m.exec(text) ?? [];
    if (json !== undefined) return JSON.parse(json) as Extract<PageEvent, { type: "snapshot" }>; // the emulator's
  }
  throw new Error("the stream has no snapshot");
}

await response.body?.cancel();
const { now, limit, windowMs, counts, steps, pauses, requests } = await snapshotOf(
  await fetch(new URL("/_emulator/events", service.page)),
);
const ago = (at: number): number => at - now;
const lost = requests.findIndex(({ fate }) => fate === "lost");
const recorded: RecordedPage = {
  limit: limit ?? 0,
  windowMs,
  counts,
  steps: steps.map(({ at, ...step }) => ({ ...step, at: ago(at) })),
  pauses: pauses.map(({ from, until }) => ({ from: ago(from), until: ago(until) })),
  requests: requests.slice(lost - 1, lost + 4).map(({ id, url, status, outcome, fate }) => {
    return { id, url, status: String(status ?? outcome), fate };
  }),
};
writeFileSync(
  new URL("../results/page-live.json", import.meta.url),
  `${JSON.stringify(recorded).replaceAll("},{", "},\n{")}\n`,
);
await service.close();
