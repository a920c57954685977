import { isObject } from "../checks/values.ts";
import type { Deadline } from "../time/deadline.ts";
import type { RotatedToken, StoredToken } from "./token-format.ts";

/** The argument of a token provider. */
export interface TokenContext {
  /** Aborts when no call waits for the token any more. */
  signal: AbortSignal;
  /** The token that the service has just answered 401 to: return another one. Absent if none was refused. */
  rejected?: string;
}

/**
 * Returns the token of one call, or a promise of it. The client calls it when a call begins and before each further
 * attempt, never while the call waits. The token is for that call alone, so the provider may look at the present request,
 * and should cache an answer of a vault. A renewal (`rejected` is set) answers its own call too. Other calls that were refused
 * with the same token wait for its end, and ask plainly; so do those whose 401 comes within a minute after it.
 *
 * @example
 * const token: TokenProvider = ({ signal, rejected }) => readSecret({ signal, fresh: rejected !== undefined });
 */
export type TokenProvider = (context: TokenContext) => string | Promise<string>;

/** Rotates a token: sends `POST /me/tokens/{id}/rotate` with that token itself. It is a call like any other. */
export type Rotate = (token: Pick<StoredToken, "id" | "plaintext">) => Promise<RotatedToken>;

/** A value of the `token` option that is neither a string nor a function, such as a `rotatingToken()`. */
export interface TokenSourceFactory {
  /**
   * Creates the token source of one client. The client passes its own way to rotate, and its service.
   *
   * @throws `ConfigError` if the token must not be sent to that service
   */
  createSource(rotate: Rotate, service: string): TokenSource;
}

/** A request that a call is about to send, as the source of its token sees it. */
export interface TokenRequest {
  /** The token that the service has just answered 401 to. */
  readonly rejected: string | undefined;
  /** The token of an earlier 401 of the same call. */
  readonly rejectedBefore: string | undefined;
  readonly isRotation: boolean;
  readonly isPaused: (token: string) => boolean;
  /** Runs work within the limits of the call, which count from the first such work. Rejects with `STOPPED` when they end. */
  readonly inTime: <Result>(work: (limit: Deadline) => Promise<Result>) => Promise<Result>;
}

export interface TokenSource {
  /** The latest known token, for snapshots and redaction; `""` before a provider was first called. */
  readonly current: string;
  /** The client holds the token. Otherwise a provider gives one for each call. */
  readonly isHeld: boolean;
  /** The token to send a request with: the refused one if there is no other. Rejects with `TokenUnavailable`. */
  tokenFor(request: TokenRequest): string | Promise<string>;
  /** Returns whether a call that waits with this token is to send it; otherwise it sends `current`. */
  isCurrent(token: string): boolean;
  /** Calls `listener` whenever a token replaces another one, until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

export class LatestToken {
  current: string;
  readonly #listeners = new Set<() => void>();

  constructor(token: string) {
    this.current = token;
  }

  isCurrent(token: string): boolean {
    return token === this.current;
  }

  set(token: string): void {
    if (token === this.current) return;
    this.current = token;
    for (const listener of [...this.#listeners]) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

const UNAVAILABLE = Symbol.for("project-automation.token-unavailable");

/**
 * A token source has no token to send. The message is a whole sentence for the caller's error, `cause` is the failure. It
 * never leaves the package: the caller gets a `TokenProviderError` made of both. A rotating token may be of another copy of
 * the package, so `instanceof` goes by a brand.
 */
export class TokenUnavailable extends Error {
  readonly [UNAVAILABLE] = true;

  static override [Symbol.hasInstance](value: unknown): value is TokenUnavailable {
    return super[Symbol.hasInstance](value) || (isObject(value) && UNAVAILABLE in value);
  }
}
