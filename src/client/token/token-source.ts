import { ignoreErrors } from "../checks/ignore-errors.ts";
import type { CreatedToken } from "../models.ts";
import type { Permit } from "../rate-limit/rate-limiter.ts";

/** What a token provider is called with. */
export interface TokenContext {
  /** Aborts when no call waits for the token any more. */
  signal: AbortSignal;
  /** The token that the service has just answered 401 to: return another one. Absent if none was refused. */
  rejected?: string;
}

/**
 * Returns the token for the next attempt, or a promise of it. It is called for each attempt, so it should cache its
 * token. Calls that need a token at the same time share one call of the provider.
 *
 * @example
 * const token: TokenProvider = ({ signal, rejected }) => readSecret({ signal, fresh: rejected !== undefined });
 */
export type TokenProvider = (context: TokenContext) => string | Promise<string>;

/**
 * Rotates a token: sends `POST /me/tokens/{id}/rotate` with that token itself, as the request that `permit` has been
 * admitted for. A pause fails it, as its own 429 does.
 */
export type Rotate = (token: Pick<CreatedToken, "id" | "plaintext">, permit: Permit) => Promise<CreatedToken>;

/** A value of the `token` option that is neither a string nor a function, such as a `rotatingToken()`. */
export interface TokenSourceFactory {
  /**
   * Creates the token source of one client. Called by the client, which passes its own way to rotate, and the origin of
   * its `baseUrl`.
   *
   * @throws `ConfigError` if the token must not be sent to that origin
   */
  createSource(rotate: Rotate, origin: string): TokenSource;
}

/** Is notified when a token changes. */
export interface TokenListener {
  refresh(): void;
}

/** The latest token that a source knows, and who is notified of another one. */
export class LatestToken {
  #token: string;
  /** One that was added more than once stays until it has left as often. */
  readonly #listeners: TokenListener[] = [];

  constructor(token: string) {
    this.#token = token;
  }

  get current(): string {
    return this.#token;
  }

  set(token: string): void {
    if (token === this.#token) return;
    this.#token = token;
    // A rate limiter of the caller's own may fail: the token is another one all the same.
    for (const listener of new Set(this.#listeners)) ignoreErrors(() => listener.refresh());
  }

  /** Returns what takes it back. */
  subscribe(listener: TokenListener): () => void {
    this.#listeners.push(listener);
    return () => void this.#listeners.splice(this.#listeners.lastIndexOf(listener), 1);
  }
}

/** Asks for a token, until the signal aborts. Resolves one that can be sent, or rejects with `TokenUnavailable`. */
export type RequestToken = (signal: AbortSignal) => Promise<string>;

/** Where a client's token comes from. Clients that are made from one another share one. */
export interface TokenSource {
  /** The latest known token; `""` before a provider was first called. */
  readonly current: string;
  /**
   * What asks for the token to send now; `undefined` if that is `current`. `rejected`: the token that the service has
   * refused with a 401 in this call, if any; `isMoved`: the call waited when `current` changed, so a provider need not be
   * called for it again. Never throws.
   */
  read?(rejected: string | undefined, isMoved?: boolean): RequestToken | undefined;
  /**
   * The token after a rotation, if one must end before the request is sent; `undefined` if none must. A rotation that is due
   * is sent as the request that the permit has been admitted for: release it no earlier. Never throws; rejects with
   * `TokenUnavailable`.
   */
  rotation?(permit: Permit): Promise<string> | undefined;
  /**
   * Waits for a rotation that is pending. Resolves whether another token than the rejected one may be had;
   * `isFirst`: the call was not answered 401 before.
   */
  renew(rejected: string, isFirst: boolean): Promise<boolean>;
  /** Calls `refresh` of the listener whenever `current` changes, until the returned function is called. */
  subscribe(listener: TokenListener): () => void;
}

/**
 * A token source has no token to send, for a reason of its own. The message is a whole sentence for the caller's error,
 * `cause` is what failed. It never leaves the package: the caller gets a `TokenProviderError` made of both.
 */
export class TokenUnavailable extends Error {}
