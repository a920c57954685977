/** The service, in a process of its own, behind a leaky bucket without burst: nginx's `limit_req` with `limit_req_status 429`. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { say, taskOf } from "../support/process.ts";

export interface BucketOptions {
  readonly perSecond: number;
  /** The `Retry-After` of a refusal, in seconds; `undefined` for none. */
  readonly retryAfter: number | undefined;
}

/** The address of the service, once it listens. */
export interface Listening {
  readonly baseUrl: string;
}

/** The times at which requests were accepted, the number of the others, and the titles of all issues. */
export interface Report {
  readonly accepted: readonly number[];
  readonly refused: number;
  readonly titles: readonly string[];
}

const PAGE = "<html><head><title>429 Too Many Requests</title></head></html>";
const { perSecond, retryAfter } = taskOf<BucketOptions>();
const accepted: number[] = [];
const titles: string[] = [];
let refused = 0;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const at = performance.now();
  if (at - (accepted.at(-1) ?? Number.NEGATIVE_INFINITY) < 1_000 / perSecond) {
    refused += 1;
    request.resume();
    const headers = {
      "content-type": "text/html",
      ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
    };
    response.writeHead(429, headers).end(PAGE);
    return;
  }
  accepted.push(at);
  const { title } = (await json(request)) as { title: string }; // as every client sends it
  titles.push(title);
  response.writeHead(201, { "content-type": "application/json" });
  response.end(JSON.stringify({ number: titles.length, title, type: "bug", status: "open" }));
}

const server = createServer((request, response) => void answer(request, response));
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo; // it listens on a port
  say({ baseUrl: `http://127.0.0.1:${port}/api/v1` } satisfies Listening);
});
process.on("message", () => say({ accepted, refused, titles } satisfies Report));
