import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:http";
import { BOOLEAN, type ObjectSchema } from "../../core/checks/validators.ts";
import { arrayOf, check, integer, TEXT } from "../checks.ts";
import { type AssembledEmulator, assembleEmulator } from "../emulator.ts";
import type { Core } from "../exchange.ts";
import { OPTIONS, type ResolvedOptions, resolveOptions } from "../options.ts";
import { type RandomSource, repeatableRandom, worldOf } from "../random.ts";
import { answerParseErrors, createRequestListener, HOST_NAME } from "./request-listener.ts";
import type { RunningEmulator, StartOptions } from "./running-emulator.ts";

const TIMEOUT = integer(1, 2 ** 31 - 1);
const START_OPTIONS: ObjectSchema<StartOptions> = {
  ...OPTIONS,
  port: integer(0, 65_535),
  host: TEXT,
  allowedHosts: arrayOf(HOST_NAME, "an array of host names without scheme and port"),
  allowPrivateNetwork: BOOLEAN,
  headersTimeoutMs: TIMEOUT,
  requestTimeoutMs: TIMEOUT,
  keepAliveTimeoutMs: TIMEOUT,
};

/** As `startEmulator`; `coreOf` returns the core that the server drives. */
export async function startServer(
  options: StartOptions | undefined,
  coreOf: (assembled: AssembledEmulator) => Core,
): Promise<RunningEmulator> {
  const given = check.options(options, "options", START_OPTIONS);
  const { port = 0, host = "127.0.0.1", allowedHosts = [], allowPrivateNetwork = false, ...others } = given;
  const { headersTimeoutMs = 10_000, requestTimeoutMs = 30_000, keepAliveTimeoutMs = 5_000, ...rest } = others;
  const resolved = resolveOptions(rest);
  const headersTimeout = Math.min(headersTimeoutMs, requestTimeoutMs);
  const server = createServer({
    headersTimeout,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(headersTimeout, 5_000),
    requireHostHeader: false, // Node's own 400 has neither a body nor the headers of every response
  });
  await listen(server, { port, host });
  const close = closer(server);
  try {
    const own = addressOf(server, host) + resolved.conventions.basePath;
    const baseUrl = rest.baseUrl === undefined ? own : resolved.baseUrl;
    const assembled = assembleEmulator({ ...resolved, baseUrl }, randomOf(resolved));
    const { emulator } = assembled;
    const core = coreOf(assembled);
    const hosts = [host, new URL(baseUrl).hostname, ...allowedHosts].map((name) => name.toLowerCase());
    const listener = createRequestListener({ core, hosts, allowPrivateNetwork });
    server.on("request", listener);
    server.on("checkExpectation", listener); // nor has Node's own 417
    answerParseErrors(server, core);
    const clientOptions = { baseUrl, token: emulator.token };
    return { ...clientOptions, clientOptions, emulator, close, [Symbol.asyncDispose]: close };
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

function listen(server: Server, on: { readonly port: number; readonly host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(listenError(on, cause)));
    server.listen(on.port, on.host, () => {
      // From here on an error is one of a single connection that could not be accepted.
      server.on("error", () => undefined);
      resolve();
    });
  });
}

function listenError(
  { port, host }: { readonly port: number; readonly host: string },
  cause: NodeJS.ErrnoException,
): Error {
  const reasons: Record<string, string | undefined> = {
    EADDRINUSE: `port ${port} on ${host} is in use`,
    EACCES: `no permission to listen on port ${port} of ${host}`,
    EADDRNOTAVAIL: `${host} is not an address of this machine`,
    ENOTFOUND: `the host ${host} is unknown`,
  };
  return new Error(reasons[cause.code ?? ""] ?? `cannot listen on port ${port} of ${host}: ${cause.message}`, {
    cause,
  });
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
