import type { ClientConnection, Emulator } from "../emulator.ts";
import type { EmulatorOptions } from "../options.ts";

/** Options of `startEmulator`: those of `createEmulator`, and where to listen. */
export interface StartOptions extends EmulatorOptions {
  /** The port; `0` is any free one. @default 0 */
  readonly port?: number | undefined;
  /** The address to listen on; any but loopback lets other machines in. @default "127.0.0.1" */
  readonly host?: string | undefined;
  /**
   * The address for clients, behind a proxy or in a container. Its path is served.
   * @default the server's own, with `conventions.basePath`
   */
  readonly baseUrl?: string | undefined;
  /**
   * Host names that a `Host` header may have beside loopback, `host` and `baseUrl`; any other is answered 421.
   * @default none
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Serves a page at `/` that shows what happens, to browsers of this machine alone. @default false */
  readonly page?: boolean | undefined;
  /** Addresses of other machines that may open the page, such as that of a container's gateway. @default none */
  readonly pageFrom?: readonly string[] | undefined;
  /** Lifetime of an idle connection, in milliseconds. @default 5_000 */
  readonly keepAliveTimeoutMs?: number | undefined;
}

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
  /** The address of the page; `undefined` without the option `page`. */
  readonly page: string | undefined;
  /** Stops listening and ends every connection, also one with a request under way. Idempotent. */
  readonly close: () => Promise<void>;
}
