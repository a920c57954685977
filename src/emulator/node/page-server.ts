import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Audience, type Problem, problemOf } from "../../page/access.ts";
import { DOCUMENT } from "../../page/document.ts";
import type { Feed } from "../../page/feed.ts";
import { parseFilter } from "../../page/place.ts";

/** The paths of the stream and of the list of requests. An id behind the second asks for one request and its response. */
const STREAM = "/_emulator/events";
const REQUESTS = "/_emulator/requests/";

/** Responds to a request if it is for the page or its stream, and returns whether it was. */
export type PageListener = (request: IncomingMessage, response: ServerResponse) => boolean;

export function pageListener(feed: Feed, audience: Audience): PageListener {
  return (request, response) => {
    const [path = "", ...query] = request.url?.split("?") ?? [];
    const id = path.startsWith(REQUESTS) ? path.slice(REQUESTS.length) : undefined;
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead || (path !== "/" && path !== STREAM && id === undefined)) return false;
    const { host, "sec-fetch-site": site } = request.headers;
    const visit = { remoteAddress: request.socket.remoteAddress, host, site: site?.toString() };
    const problem = problemOf(visit, audience);
    if (problem !== undefined) refuse(problem, visit.remoteAddress, response);
    else if (path === STREAM) sendEvents(feed, response);
    else if (id === undefined) response.writeHead(200, headersOf("text/html")).end(DOCUMENT);
    else if (id === "") sendFound(feed, query.join("?"), response);
    else sendJson(feed.exchange(id), response);
    return true;
  };
}

function sourceOf(element: "script" | "style"): string {
  const [, text = ""] = new RegExp(`<${element}>(.*?)</${element}>`, "s").exec(DOCUMENT) ?? [];
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** The page runs its own script and nothing else, asks its own origin alone, and is shown in no frame. */
const POLICY = [
  "default-src 'none'",
  `script-src ${sourceOf("script")}`,
  `style-src ${sourceOf("style")}`,
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": POLICY,
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

function headersOf(type: string): Record<string, string> {
  return { ...HEADERS, "content-type": `${type}; charset=utf-8` };
}

function sendFound(feed: Feed, query: string, response: ServerResponse): void {
  const isFilter = [...new URLSearchParams(query).keys()].every((name) => name === "failed" || name === "text");
  if (isFilter) sendJson(feed.find(parseFilter(query)), response);
  else response.writeHead(400, headersOf("text/plain")).end("the query may have failed and text\n");
}

function sendJson(json: string | undefined, response: ServerResponse): void {
  if (json === undefined) response.writeHead(404, headersOf("text/plain")).end("this request is not kept\n");
  else response.writeHead(200, headersOf("application/json")).end(json);
}

function refuse(problem: Problem, address: string | undefined, response: ServerResponse): void {
  const sentences: Readonly<Record<Problem, string>> = {
    address: `the page is for this machine alone, and you come from ${address}; see pageFrom and --page-from`,
    host: "the Host header names a host that is not allowed; see allowedHosts and --allow-host",
    site: "another site asks for the page; type its address into the browser",
  };
  response.writeHead(problem === "host" ? 421 : 403, headersOf("text/plain"));
  response.end(`${sentences[problem]}\n`);
}

/** A reader that is so far behind is let go: it connects anew, and begins with a snapshot. */
const MOST_BEHIND_BYTES = 16 * 1024 * 1024;

function sendEvents(feed: Feed, response: ServerResponse): void {
  response.writeHead(200, headersOf("text/event-stream"));
  if (response.req.method === "HEAD") return void response.end();
  response.write("retry: 1000\n\n");
  const stop = feed.listen((told) => {
    response.write(told.map(({ type, json }) => `event: ${type}\ndata: ${json}\n\n`).join(""));
    if (response.writableLength > MOST_BEHIND_BYTES) response.destroy();
  });
  response.once("close", stop);
}
