import type { Deadline } from "../time/deadline.ts";
import { onAbort } from "../time/deadline.ts";
import { SharedWork } from "./shared-work.ts";
import { flawOfToken } from "./token-format.ts";
import {
  type TokenContext,
  type TokenProvider,
  type TokenRequest,
  type TokenSource,
  TokenUnavailable,
} from "./token-source.ts";

/** A renewal answers calls whose 401 for the same token arrives within this time after it. */
const RENEWAL_SERVES_MS = 60_000;

/** A call of the provider for another token than the rejected one, and how many of our calls wait for it. */
class Renewal extends SharedWork<string> {
  readonly #controller: AbortController;
  #waiting = 0;

  constructor(ask: (signal: AbortSignal) => Promise<string>, limitMs: number) {
    const controller = new AbortController();
    super(ask(controller.signal), limitMs);
    this.#controller = controller;
  }

  get isAborted(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Waits for the token. When no call waits any more, the provider's signal aborts. */
  async waitWith(signal: AbortSignal): Promise<string | undefined> {
    this.#waiting += 1;
    const unsubscribe = onAbort(signal, () => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#controller.abort();
    });
    try {
      return await this.wait();
    } finally {
      unsubscribe();
    }
  }
}

/** A token from the caller's function. What that returns is for the call that asked; only renewals are shared. */
export class ProviderToken implements TokenSource {
  current = "";
  readonly #provider: TokenProvider;
  /** By the rejected token. */
  readonly #renewals = new Map<string, Renewal>();

  constructor(provider: TokenProvider) {
    this.#provider = provider;
  }

  /** Asks the provider for each request, and after a 401 for another token, once in a call. */
  async tokenFor({ rejected, refused, within }: TokenRequest): Promise<string> {
    const renew = (token: string): Promise<string> => within((limit) => this.#renewed(token, limit));
    if (rejected !== undefined) return refused === undefined ? await renew(rejected) : rejected;
    const token = await within((limit) => this.#ask({ signal: limit.signal }));
    // The provider may not know yet that it was refused.
    return token === refused ? await renew(token) : token;
  }

  /** A token is for its call alone, so nothing replaces it. */
  isCurrent(): boolean {
    return true;
  }

  subscribe(): () => void {
    return () => {};
  }

  async #renewed(rejected: string, limit: Deadline): Promise<string> {
    for (;;) {
      const token = await this.#renewalOf(rejected, limit.leftMs).waitWith(limit.signal);
      // A renewal that the platform has dropped is begun again.
      if (token !== undefined) return token;
    }
  }

  #renewalOf(rejected: string, limitMs: number): Renewal {
    const known = this.#renewals.get(rejected);
    if (known?.isCurrent && !known.isAborted) return known;
    for (const [token, renewal] of this.#renewals) if (!renewal.isCurrent) this.#renewals.delete(token);
    const renewal = new Renewal((signal) => this.#ask({ signal, rejected }), limitMs);
    this.#renewals.set(rejected, renewal);
    const forget = (): void => {
      if (this.#renewals.get(rejected) === renewal) this.#renewals.delete(rejected);
    };
    // The same token again answers nobody else: the provider may have another one a moment later.
    renewal.result.then((token) => (token === rejected ? forget() : renewal.keep(RENEWAL_SERVES_MS)), forget);
    return renewal;
  }

  async #ask(context: TokenContext): Promise<string> {
    let token: string;
    try {
      token = await this.#provider(context);
    } catch (cause) {
      throw new TokenUnavailable("the token provider failed", { cause });
    }
    const flaw = flawOfToken(token);
    if (flaw !== undefined) throw new TokenUnavailable(`the token provider returned no usable token: it ${flaw}`);
    this.current = token;
    return token;
  }
}
