import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { isIP } from "node:net";
import { arrayOf, BOOLEAN, type Shape, strings, type Validator } from "../../core/checks/validators.ts";
import { Feed } from "../../page/feed.ts";
import { check, integer, TEXT } from "../checks.ts";
import { assembleEmulator } from "../emulator.ts";
import { OPTIONS, type ResolvedOptions, resolveOptions } from "../options.ts";
import { type RandomSource, repeatableRandom, worldOf } from "../random.ts";
import { pageListener } from "./page-server.ts";
import { createRequestListener, HOST_NAME, hostTest, type ListenerOptions } from "./request-listener.ts";
import type { RunningEmulator, StartOptions } from "./running-emulator.ts";

/** An address that may open the page. */
export const ADDRESS: Validator<string> = strings("an IP address, such as 172.17.0.1", (value) => isIP(value) !== 0);
const START_OPTIONS = {
  ...OPTIONS,
  port: integer(0, 65_535),
  host: TEXT,
  allowedHosts: arrayOf(HOST_NAME, "an array of host names without scheme and port"),
  page: BOOLEAN,
  pageFrom: arrayOf(ADDRESS, "an array of IP addresses"),
  keepAliveTimeoutMs: integer(1),
} satisfies Shape<StartOptions>;

export interface StartedServer {
  readonly running: RunningEmulator;
  readonly feed: Feed | undefined;
}

/** As `startEmulator`; requests may arrive late. */
export async function startServer(
  options: StartOptions | undefined,
  { lateness }: Pick<ListenerOptions, "lateness"> = {},
): Promise<StartedServer> {
  const given = check.options(options, "options", START_OPTIONS);
  const { port = 0, host: asked = "127.0.0.1", allowedHosts = [], page: hasPage = false, ...unread } = given;
  const host = asked.replace(/^\[(.*)\]$/, "$1"); // an IPv6 address as URLs write it
  const { pageFrom = [], keepAliveTimeoutMs: keepAliveTimeout = 5_000, ...rest } = unread;
  if (pageFrom.length > 0 && !hasPage) check.fail("options: pageFrom needs page: true");
  const resolved = resolveOptions(rest);
  // Half a head is cut within ten seconds.
  const server = createServer({ keepAliveTimeout, headersTimeout: 8_000, connectionsCheckingInterval: 1_000 });
  await listen(server, { port, host });
  const close = closer(server);
  try {
    const own = addressOf(server, host);
    const baseUrl = rest.baseUrl === undefined ? own + resolved.conventions.basePath : resolved.baseUrl;
    const assembled = assembleEmulator({ ...resolved, baseUrl }, randomOf(resolved));
    const { emulator, core } = assembled;
    const acceptsHost = hostTest([host, new URL(baseUrl).hostname, ...allowedHosts]);
    const feed = hasPage ? new Feed(assembled) : undefined;
    if (feed !== undefined) core.watch(feed.watch);
    const page = feed && pageListener(feed, { addresses: pageFrom, acceptsHost });
    server.on("request", createRequestListener({ core, acceptsHost, page, lateness }));
    const clientOptions = { baseUrl, token: emulator.token };
    const address = hasPage ? `${own}/` : undefined;
    const running = { ...clientOptions, clientOptions, emulator, page: address, close, [Symbol.asyncDispose]: close };
    return { running, feed };
  } catch (error) {
    // Rows that contradict each other are found as they are made.
    await close();
    throw error;
  }
}

/** An address may be that of an earlier process, so the world is new at each start. */
function randomOf({ random }: ResolvedOptions): RandomSource {
  const words = 2 ** 32;
  return { ...repeatableRandom(random), world: worldOf(() => randomInt(words) / words) };
}

async function listen(server: Server, { port, host }: { readonly port: number; readonly host: string }): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new Error(`cannot listen on port ${port} of ${host}: ${(cause as Error).message}`, { cause }); // an `error` event
  }
  // From here on an error is one of a single connection that could not be accepted.
  server.on("error", () => undefined);
}

/** The addresses that stand for all of a machine. Linux connects to them, Windows does not. */
const LOOPBACK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

function addressOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const reached = LOOPBACK[host] ?? host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

function closer(server: Server): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closed;
  };
}
