/**
 * One response, in a process of its own: how long it blocks the event loop at most, and what memory it adds. Its body comes
 * on standard input, so that making it is not measured.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as z from "zod";
import { Client, path } from "../../dist/index.js";
import type { Shape } from "./shapes.ts";

/** What a probe reports on standard output. */
export interface Probed {
  readonly outcome: string;
  readonly blockedMs: number;
  readonly addedMb: number;
}

const [asked = "", status = "", coding = ""] = process.argv.slice(2);
const body = readFileSync(0);

const ordinary = JSON.stringify({ data: [{ id: "prj_1", name: "web" }], next_cursor: null });
let isOrdinary = true;
const server = createServer((request, response) => {
  request.resume();
  response.setHeader("content-type", "application/json");
  if (isOrdinary) response.end(ordinary);
  else response.writeHead(Number(status), { "content-encoding": coding }).end(body);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo; // it listens on a port
const client = new Client({ baseUrl: `http://127.0.0.1:${port}`, token: "pat_key_secret", retry: false });
for (let call = 0; call < 20; call += 1) await client.projects.list().toArray();
isOrdinary = false;

globalThis.gc?.();
const before = process.resourceUsage().maxRSS;
const block = watchLoop();
const outcome = await send(asked as Shape["call"]).then(
  () => "resolved",
  (error: unknown) => `${error instanceof Error ? error.name : "no error"}: ${String(error).slice(0, 160)}`,
);
const blockedMs = block();
const addedMb = (process.resourceUsage().maxRSS - before) / 1_024;
const probed: Probed = { outcome, blockedMs, addedMb };
console.log(JSON.stringify(probed));
process.exit();

async function send(call: Shape["call"]): Promise<unknown> {
  const where = path`/any`;
  switch (call) {
    case "projects.list":
      return client.projects.list().toArray();
    case "tokens.create":
      return client.tokens.create({ name: "n", scopes: [] });
    case "request":
      return client.request({ method: "GET", path: where });
    case "request with classic zod": {
      const schema = z.object({ data: z.array(z.object({ id: z.literal("x"), name: z.string() })) });
      return client.request({ method: "GET", path: where, schema });
    }
  }
}

/** Looks at the clock on every turn of the event loop; the longest time between two looks. */
function watchLoop(): () => number {
  let longest = 0;
  let last = performance.now();
  let timer: NodeJS.Immediate;
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    timer = setImmediate(look);
  };
  timer = setImmediate(look);
  return () => {
    clearImmediate(timer);
    return Math.max(longest, performance.now() - last);
  };
}
