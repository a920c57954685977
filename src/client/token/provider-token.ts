import { onAbort } from "../time/deadline.ts";
import { flawOfToken } from "./token-format.ts";
import {
  LatestToken,
  type RequestToken,
  type TokenProvider,
  type TokenSource,
  TokenUnavailable,
} from "./token-source.ts";

/** A call of the provider that has not settled, and how many of our calls wait for it. */
interface PendingRequest {
  readonly controller: AbortController;
  readonly token: Promise<string>;
  waiting: number;
}

/**
 * A token from the caller's function, which is called for each attempt. Attempts that need a token at the same time share
 * one request. If it returns a token that the service has refused with a 401, the provider is called again, with that token as
 * `rejected`.
 */
export class ProviderToken extends LatestToken implements TokenSource {
  readonly #provider: TokenProvider;
  /** By the rejected token that the provider was called with; `undefined` for none. */
  readonly #pending = new Map<string | undefined, PendingRequest>();
  /** The sequence numbers of the latest request and of the request that `current` is from. */
  #latestSequence = 0;
  #currentSequence = 0;

  constructor(provider: TokenProvider) {
    super("");
    this.#provider = provider;
  }

  read(rejected: string | undefined, isMoved = false): RequestToken | undefined {
    return isMoved && this.current !== rejected ? undefined : (signal) => this.#ask(rejected, signal);
  }

  async #ask(rejected: string | undefined, signal: AbortSignal): Promise<string> {
    // There may be a newer token by now, which the provider must not replace.
    if (rejected !== this.current) {
      const token = await this.#share(undefined, signal);
      if (token !== rejected) return token;
    }
    return this.#share(rejected, signal);
  }

  async #share(rejected: string | undefined, signal: AbortSignal): Promise<string> {
    const request = this.#pending.get(rejected) ?? this.#request(rejected);
    request.waiting += 1;
    const unsubscribe = onAbort(signal, () => {
      request.waiting -= 1;
      if (request.waiting > 0) return;
      // An aborted request must not be shared.
      this.#forget(rejected, request);
      request.controller.abort();
    });
    try {
      return await request.token;
    } finally {
      unsubscribe();
    }
  }

  /** The provider is asked for another token once in a call. */
  async renew(_: string, isFirst: boolean): Promise<boolean> {
    return isFirst;
  }

  #request(rejected: string | undefined): PendingRequest {
    const controller = new AbortController();
    const request = { controller, token: this.#call(controller.signal, rejected), waiting: 0 };
    this.#pending.set(rejected, request);
    const forget = (): void => this.#forget(rejected, request);
    request.token.then(forget, forget);
    return request;
  }

  #forget(rejected: string | undefined, request: PendingRequest): void {
    if (this.#pending.get(rejected) === request) this.#pending.delete(rejected);
  }

  async #call(signal: AbortSignal, rejected: string | undefined): Promise<string> {
    this.#latestSequence += 1;
    const sequence = this.#latestSequence;
    let token: string;
    try {
      token = await this.#provider(rejected === undefined ? { signal } : { signal, rejected });
    } catch (cause) {
      throw new TokenUnavailable("the token provider failed", { cause });
    }
    const flaw = flawOfToken(token);
    if (flaw !== undefined) throw new TokenUnavailable(`the token provider returned no usable token: it ${flaw}`);
    // A request that settles late must not bring an older token back.
    if (sequence < this.#currentSequence) return token;
    this.#currentSequence = sequence;
    this.set(token);
    return token;
  }
}
