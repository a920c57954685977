/** The emulator as a real HTTP server: `project-automation/testing/node`. Needs Node; binds to loopback. */

import type { Server } from "node:http";
import { createServer } from "node:http";
import { checkInteger, checkString } from "./checks.ts";
import type { Emulator } from "./emulator.ts";
import { assembleEmulator } from "./emulator.ts";
import { answerParseErrors } from "./node/parse-errors.ts";
import { createRequestListener } from "./node/request-listener.ts";
import type { EmulatorOptions } from "./options.ts";

/** Options of `startEmulator`: those of `createEmulator`, and where to listen. */
export interface StartOptions extends EmulatorOptions {
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`. Anything but loopback lets others on the network in. */
  readonly host?: string | undefined;
  /**
   * The address that clients use, where it is not the server's own (behind a proxy, in a container). Its path is the one
   * that is served. Default: the server's own, with `/api/v1`.
   */
  readonly baseUrl?: string | undefined;
  /** How long a client may take for its request line and headers. Default 10 000. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long a client may take for its whole request. Default 30 000. */
  readonly requestTimeoutMs?: number | undefined;
  /** How long an idle connection is kept for the next request. Default 5 000. */
  readonly keepAliveTimeoutMs?: number | undefined;
}

/** `[Symbol.asyncDispose]`, for `await using`, where the TypeScript library in use knows it; Node always does. */
export type Disposal = SymbolConstructor extends { readonly asyncDispose: infer Key extends symbol }
  ? { readonly [Name in Key]: () => Promise<void> }
  : unknown;

/** An emulator that listens. */
export type RunningEmulator = ListeningEmulator & Disposal;

/** What {@link RunningEmulator} offers everywhere. */
export interface ListeningEmulator {
  /** For `new Client({ baseUrl })`. */
  readonly baseUrl: string;
  /** A token with every scope; the same in every run. */
  readonly token: string;
  /** State, faults and log. */
  readonly emulator: Emulator;
  /** Stops listening and ends every connection, also one with a request under way. Idempotent. */
  readonly close: () => Promise<void>;
}

/**
 * Starts the emulator as an HTTP server. Rejects with an `Error` that says so when the address cannot be listened on, and
 * with a `TypeError` for an option that is unknown, of the wrong type or out of range.
 *
 * @example
 * const service = await startEmulator({ projects: 5 });
 * const client = new Client({ baseUrl: service.baseUrl, token: service.token });
 * await service.close();
 */
export async function startEmulator(options: StartOptions = {}): Promise<RunningEmulator> {
  const { port, host, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, ...rest } = options;
  const listenOn = {
    port: checkInteger("port", port, { min: 0, max: 65_535, fallback: 0 }),
    host: checkString("host", host ?? "127.0.0.1"),
  };
  const headersTimeout = checkTimeout("headersTimeoutMs", headersTimeoutMs, 10_000);
  const requestTimeout = checkTimeout("requestTimeoutMs", requestTimeoutMs, 30_000);
  const server = createServer({
    headersTimeout: Math.min(headersTimeout, requestTimeout),
    requestTimeout,
    keepAliveTimeout: checkTimeout("keepAliveTimeoutMs", keepAliveTimeoutMs, 5_000),
    connectionsCheckingInterval: Math.min(headersTimeout, requestTimeout, 5_000),
  });
  await listen(server, listenOn);
  const close = closer(server);
  try {
    const { emulator, core } = assembleEmulator({ ...rest, baseUrl: rest.baseUrl ?? addressOf(server, listenOn.host) });
    server.on("request", createRequestListener(core));
    answerParseErrors(server);
    const { baseUrl, token } = emulator;
    return { baseUrl, token, emulator, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

function checkTimeout(where: string, value: unknown, fallback: number): number {
  return checkInteger(where, value, { min: 1, max: 2 ** 31 - 1, fallback });
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

function addressOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}/api/v1`;
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
