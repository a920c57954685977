/** The emulator as a real HTTP server: `project-automation/testing/node`. Needs Node; binds to loopback. */

import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:http";
import { BOOLEAN, type ObjectSchema } from "../core/checks/validators.ts";
import { arrayOf, check, integer, TEXT } from "./checks.ts";
import { assembleEmulator, type ClientConnection, type Emulator } from "./emulator.ts";
import { answerParseErrors, createRequestListener, HOST_NAME } from "./node/request-listener.ts";
import { type EmulatorOptions, OPTIONS, type ResolvedOptions, resolveOptions } from "./options.ts";
import { type RandomSource, repeatableRandom, worldOf } from "./random.ts";

export { exploreFaults } from "./node/explore/explore-faults.ts";
export type { ExploredRequest, FaultKind } from "./node/explore/fault-kinds.ts";
export type { ExploredEnd, ExploredStart, ExploreOptions } from "./node/explore/options.ts";
export { ExplorationError, type ExplorationReport, type Finding } from "./node/explore/report.ts";
export type { ProgramContext } from "./node/explore/run.ts";

/** Options of `startEmulator`: those of `createEmulator`, and where to listen. */
export interface StartOptions extends EmulatorOptions {
  /** The port; `0` is any free one. @default 0 */
  readonly port?: number | undefined;
  /** The address to listen on; any but loopback lets other machines in. @default "127.0.0.1" */
  readonly host?: string | undefined;
  /**
   * The address that clients use, behind a proxy or in a container. Its path is served.
   * @default the server's own, with `conventions.basePath`
   */
  readonly baseUrl?: string | undefined;
  /**
   * Host names that a `Host` header may have beside loopback, `host` and `baseUrl`; any other is answered 421.
   * @default none
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Lets pages of public sites in (`Access-Control-Allow-Private-Network`). @default false */
  readonly allowPrivateNetwork?: boolean | undefined;
  /** Milliseconds for the head of a request. @default 10_000 */
  readonly headersTimeoutMs?: number | undefined;
  /** Milliseconds for a whole request. @default 30_000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds that an idle connection is kept. @default 5_000 */
  readonly keepAliveTimeoutMs?: number | undefined;
}

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

/** `[Symbol.asyncDispose]`, for `await using`, where the TypeScript library in use knows it; Node always does. */
export type Disposal = SymbolConstructor extends { readonly asyncDispose: infer Key extends symbol }
  ? { readonly [Name in Key]: () => Promise<void> }
  : unknown;

/** An emulator that listens. */
export type RunningEmulator = ListeningEmulator & Disposal;

/** The part of {@link RunningEmulator} that every TypeScript library knows. */
export interface ListeningEmulator extends Omit<ClientConnection, "fetch"> {
  /** `baseUrl` and `token`, to be spread into `new Client`. */
  readonly clientOptions: Omit<ClientConnection, "fetch">;
  /** State, faults and log. */
  readonly emulator: Emulator;
  /** Stops listening and ends every connection, also one with a request under way. Idempotent. */
  readonly close: () => Promise<void>;
}

/**
 * Starts the emulator as an HTTP server. Each start is a new world: it refuses the tokens and cursors of an earlier one at the
 * same address.
 *
 * @throws `Error` that names the reason if the address cannot be listened on, and `TypeError` for an option that is
 * unknown, of the wrong type or out of range; it rejects with them
 *
 * @example
 * const service = await startEmulator({ projects: 5 });
 * const client = new Client(service.clientOptions);
 * await service.close();
 */
export async function startEmulator(options?: StartOptions): Promise<RunningEmulator> {
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
    const { emulator, core } = assembleEmulator({ ...resolved, baseUrl }, randomOf(resolved));
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
