/** The service over loopback, in a process of its own. It answers from what it holds ready, so as not to be what is measured. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { say, taskOf } from "../support/part.ts";
import { ANSWER_HEADERS, itemsFrom, ROUND, sessionBody, sessionId } from "./calls.ts";

export interface ServerTask {
  /** How many items its lists have. */
  readonly items: number;
  /** How long it takes for each page of a list. */
  readonly pageMs: number;
}

export interface Listening {
  readonly origin: string;
}

/** Where a client's own way of paging looks for a list, what it says of where it is, and what it is answered. */
interface Shape {
  readonly path: string;
  readonly size: string;
  readonly cursor: string;
  render(page: Page): object;
}

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly last: string;
  readonly hasMore: boolean;
}

const task = taskOf<ServerTask>();
const sessions = new Map(
  Array.from({ length: ROUND }, (_, at) => [sessionId(at), Buffer.from(sessionBody(sessionId(at)))]),
);

/** A cursor is always the number of items before it, or an id that ends with the number of the last item. */
const shapes: readonly Shape[] = [
  {
    path: "/api/v1/projects",
    size: "limit",
    cursor: "cursor",
    render: ({ items, last, hasMore }) => ({ data: items, next_cursor: hasMore ? last : null }),
  },
  {
    path: "/api/v1/files",
    size: "limit",
    cursor: "after",
    render: ({ items, last, hasMore }) => ({ object: "list", data: items, last_id: last, has_more: hasMore }),
  },
  {
    path: "/v1/models",
    size: "limit",
    cursor: "after_id",
    render: ({ items, last, hasMore }) => ({ data: items, first_id: items[0]?.id, last_id: last, has_more: hasMore }),
  },
  {
    path: "/api/v1/users",
    size: "page_size",
    cursor: "start_cursor",
    render: ({ items, last, hasMore }) => ({
      object: "list",
      results: items,
      next_cursor: hasMore ? last : null,
      has_more: hasMore,
    }),
  },
  {
    path: "/v1/customers",
    size: "limit",
    cursor: "starting_after",
    render: ({ items, hasMore }) => ({ object: "list", url: "/v1/customers", data: items, has_more: hasMore }),
  },
  { path: "/api/v1/orgs/web/repos", size: "per_page", cursor: "page", render: ({ items }) => items },
];
const shapeAt = new Map(shapes.map((shape) => [shape.path, shape]));
const rendered = new Map<string, Buffer>();

const server = createServer((request, response) => {
  const url = request.url ?? "";
  const shape = shapeAt.get(url.split("?", 1)[0] ?? "");
  const headers: Record<string, string | number> = { ...ANSWER_HEADERS };
  if (!/^(bearer|token) ./i.test(request.headers.authorization ?? "")) response.writeHead(401).end();
  else if (shape !== undefined) {
    const body = pageAt(url, shape, headers);
    const answer = (): void => void response.writeHead(200, { ...headers, "content-length": body.length }).end(body);
    if (task.pageMs > 0) setTimeout(answer, task.pageMs);
    else answer();
  } else {
    const body = sessions.get(url.slice(url.lastIndexOf("/") + 1));
    response.writeHead(body === undefined ? 404 : 200, { ...headers, "content-length": body?.length ?? 0 }).end(body);
  }
});
// Room for everybody who comes at once.
server.listen({ port: 0, host: "127.0.0.1", backlog: 2_048 }, () => {
  const { port } = server.address() as AddressInfo; // it listens on a port
  say({ origin: `http://127.0.0.1:${port}` } satisfies Listening);
});

/** The page that an address asks for, rendered once; where the place of the next one is told in a header, that too. */
function pageAt(address: string, shape: Shape, headers: Record<string, string | number>): Buffer {
  const url = new URL(address, "http://service");
  const size = Number(url.searchParams.get(shape.size));
  const cursor = url.searchParams.get(shape.cursor) ?? "";
  const isNumbered = shape.cursor === "page";
  const from = isNumbered ? (Number(cursor || 1) - 1) * size : cursor === "" ? 0 : Number(cursor.slice(4)) + 1;
  const until = Math.min(from + size, task.items);
  if (isNumbered && until < task.items) {
    url.searchParams.set("page", String(Number(cursor || 1) + 1));
    headers["link"] = `<http://${hostOf()}${url.pathname}${url.search}>; rel="next"`;
  }
  const key = `${shape.path} ${size} ${from}`;
  const known = rendered.get(key);
  if (known !== undefined) return known;
  const items = itemsFrom(from, until);
  const page: Page = { items, last: items.at(-1)?.id ?? "", hasMore: until < task.items };
  const body = Buffer.from(JSON.stringify(shape.render(page)));
  rendered.set(key, body);
  return body;
}

function hostOf(): string {
  const { port } = server.address() as AddressInfo; // it listens on a port
  return `127.0.0.1:${port}`;
}
