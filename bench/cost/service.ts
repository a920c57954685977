/** The service over loopback, in a process of its own. Its answers are ready, so that the client is what is measured. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { say, taskOf } from "../support/process.ts";
import { HEADERS, itemOf, sessionBody } from "./bodies.ts";

/** A list of so many projects, each page of which takes so long. */
export interface ServiceTask {
  readonly items: number;
  readonly pageMs: number;
}

const { items, pageMs } = taskOf<ServiceTask>();
const pages = new Map<string, Buffer>();

const server = createServer((request, response) => {
  const url = new URL(request.url ?? "", "http://service");
  const isList = url.pathname.endsWith("/projects");
  const body = isList ? pageAt(url) : Buffer.from(sessionBody(url.pathname.split("/").at(-1) ?? ""));
  const answer = () => response.writeHead(200, { ...HEADERS, "content-length": body.length }).end(body);
  if (isList && pageMs > 0) setTimeout(answer, pageMs);
  else answer();
});
server.listen(0, "127.0.0.1", () => say({ port: (server.address() as AddressInfo).port })); // it listens on a port

/** Returns a page, made once. A cursor is the number of the first item. */
function pageAt({ search, searchParams }: URL): Buffer {
  const known = pages.get(search);
  if (known !== undefined) return known;
  const from = Number(searchParams.get("cursor") ?? 0);
  const until = Math.min(from + Number(searchParams.get("limit")), items);
  const data = Array.from({ length: until - from }, (_, at) => itemOf(from + at));
  const page = Buffer.from(JSON.stringify({ data, next_cursor: until < items ? String(until) : null }));
  pages.set(search, page);
  return page;
}
