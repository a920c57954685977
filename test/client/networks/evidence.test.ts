/**
 * A write over each transport of an application, alone and beside the global `fetch`. The service counts what it applies. Only
 * where Node's channels show a whole course of events a write is `not_sent`; all other failures are `unknown`.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createHttp2Server, createSecureServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../../support/child-program.ts";
import { missingTools, runsTools, toolFile } from "../../support/consumer-tools.ts";
import { freePort } from "../../support/free-port.ts";
import { findRuntimes } from "../runtimes/binaries.ts";
import { SERVER } from "./certificates.ts";
import { PROGRAM } from "./transports.ts";

const PROCESSES = findRuntimes().here.filter(({ name }) =>
  ["Node 22", "Node 24", "Node 26", "Bun", "Deno"].includes(name),
);
const UNDICIS = ["undici-5", "undici-6", "undici-7", "undici-8"];
const DISPATCHERS = ["Agent", "Pool", "RetryAgent", "cache", "ProxyAgent"];
/** What old versions do not have. */
const ABSENT = ["undici-5 RetryAgent", "undici-5 cache", "undici-6 cache"];

/** By undici, on Node. */
const SHOWN = [
  "global fetch",
  "axios over fetch",
  ...UNDICIS,
  ...UNDICIS.flatMap((version) => DISPATCHERS.map((one) => `${version} ${one}`)),
].filter((name) => !ABSENT.includes(name));
/** Node's channels show that they write, too. */
const VISIBLE = ["node:http", "axios", "got"];
const HTTP2 = UNDICIS.slice(1).map((version) => `${version} HTTP/2`);
const HIDDEN = ["node:http2", "worker", "curl"];

interface Row {
  readonly transport: string;
  /**
   * `lost` and `refused`: it is the only way. `before` and `after` the global `fetch` is refused, or after that, not awaited
   * (`beside`). `read`: the write is answered, and a read after it is refused. `old ticks`: `before`,
   * where fake timers took the place of `nextTick` before the import.
   */
  readonly order: "lost" | "refused" | "before" | "after" | "beside" | "read" | "old ticks";
}

interface Told extends Row {
  readonly outcome: string;
  readonly attempts: number;
  readonly message: string;
}

function rowsOf(kind: string): readonly Row[] {
  const rows = (transports: readonly string[], ...orders: Row["order"][]): readonly Row[] =>
    transports.flatMap((transport) => orders.map((order) => ({ transport, order })));
  // Deno finds npm packages in its own project alone.
  const ways = [...SHOWN.slice(0, 2), ...VISIBLE, ...HIDDEN].filter(
    (name) => kind !== "deno" || !/axios|got/.test(name),
  );
  const everywhere = rows(ways, "lost", "refused", "before", "after", "read");
  if (kind !== "node") return everywhere;
  return [
    ...everywhere,
    ...rows(UNDICIS, "lost", "refused", "before", "after", "read"),
    ...rows(
      SHOWN.filter((name) => / (?:Agent|Pool|RetryAgent|cache)$/.test(name)),
      "lost",
      "refused",
    ),
    ...rows(
      SHOWN.filter((name) => name.endsWith("ProxyAgent")),
      "refused",
    ),
    ...rows([...SHOWN.slice(0, 2), ...UNDICIS, ...VISIBLE], "beside"),
    // undici 5 does not notice a lost connection of HTTP/2: it waits for its time limit.
    ...rows(HTTP2, "lost"),
    ...rows(["worker"], "old ticks"),
  ];
}

/** Of a write that was refused, and over nothing else than undici on Node. */
const isShown = ({ transport, order }: Row, kind: string): boolean =>
  order === "refused" && kind === "node" && SHOWN.includes(transport);

/** A service in whose paths the number of the row comes first. It applies each write, and answers only those of order `read`. */
class CountingService {
  readonly applied: number[] = [];
  readonly #rows: readonly Row[];
  readonly #ends: (() => void)[] = [];

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  /** Counts a request; returns whether it is answered. */
  #apply({ url, method }: { readonly url?: string | undefined; readonly method?: string | undefined }): boolean {
    const row = Number(url?.split("/")[1]);
    if (method !== "GET") this.applied[row] = (this.applied[row] ?? 0) + 1;
    return this.#rows[row]?.order === "read";
  }

  async http1(): Promise<number> {
    const server = createServer((request, response) => {
      request.resume().on("end", () => {
        if (this.#apply(request)) response.writeHead(201).end("{}");
        else request.socket.destroy();
      });
    });
    this.#ends.push(() => {
      server.close();
      server.closeAllConnections();
    });
    return await listening(server);
  }

  /** Over HTTP/2, without TLS, as `node:http2` can speak it. */
  async http2(): Promise<number> {
    const server = createHttp2Server((request, response) => {
      request.resume().on("end", () => {
        if (this.#apply(request)) response.writeHead(201).end("{}");
        else request.stream.session?.destroy();
      });
    });
    this.#ends.push(() => server.close());
    return await listening(server);
  }

  /** Over HTTP/2 and TLS. It goes away with the first write that it applies, before it answers. */
  async mortal(): Promise<number> {
    const sessions = new Set<ServerHttp2Session>();
    const end = (): void => {
      server.close();
      for (const session of sessions) session.destroy();
    };
    const server = createSecureServer(SERVER, (request) => {
      request.resume().on("end", () => {
        this.#apply(request);
        end();
      });
    });
    server.on("session", (session) => sessions.add(session));
    this.#ends.push(end);
    return await listening(server);
  }

  stop(): void {
    for (const end of this.#ends) end();
  }
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port; // it listens on a port
}

if (!runsTools) console.warn(`evidence.test.ts is skipped: ${missingTools}`);

test.runIf(runsTools).each(PROCESSES)(
  "$name: a write is not_sent only where Node shows it, and is applied at most once",
  async (runtime) => {
    const { kind, executable } = runtime;
    const rows = rowsOf(kind);
    const service = new CountingService(rows);
    onTestFinished(() => service.stop());
    const mortal: Record<string, number> = {};
    for (const transport of HTTP2) mortal[transport] = await service.mortal();
    const ports = { http1: await service.http1(), http2: await service.http2(), closed: await freePort(), mortal };
    const places = { ...ports, tools: toolFile("axios/package.json"), got: toolFile("got/dist/source/index.js") };
    const given = `const rows = ${JSON.stringify(rows)}; const places = ${JSON.stringify(places)};`;
    const flags = kind === "deno" ? ["run", "--no-check", "--allow-all"] : ["--no-warnings"];
    const { stdout, stderr } = await runProgram(given + PROGRAM, { executable, flags: kind === "bun" ? [] : flags });
    expect(stderr).toBe("");
    const told = JSON.parse(stdout) as readonly Told[];
    const wrong = told.flatMap((row, index) => {
      const applied = service.applied[index] ?? 0;
      const right = isShown(row, kind) ? ["not_sent", 3, 0] : ["unknown", 1, row.order === "refused" ? 0 : 1];
      return isDeepStrictEqual([row.outcome, row.attempts, applied], right) ? [] : [{ ...row, applied, right }];
    });
    expect(wrong).toEqual([]);
    expect(told).toHaveLength(rows.length);
  },
);
