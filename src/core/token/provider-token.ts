import type { Deadline } from "../time/deadline.ts";
import { SharedWork } from "./shared-work.ts";
import { problemOfToken } from "./token-format.ts";
import {
  LatestToken,
  type TokenContext,
  type TokenProvider,
  type TokenRequest,
  type TokenSource,
  TokenUnavailable,
} from "./token-source.ts";

/** Calls whose 401 for the same token arrives within this time after its renewal ask the provider plainly first. */
const RENEWED_MS = 60_000;

/**
 * A token from the caller's function. What that returns is for the call that asked, in whose context it runs: it may look at
 * the present visitor. So a renewal answers its own call alone. Others that were refused with the same token wait for its end,
 * since the provider may have another one then, and ask for themselves.
 */
export class ProviderToken extends LatestToken implements TokenSource {
  readonly isHeld = false;
  readonly #provider: TokenProvider;
  /** By the rejected token: the renewal that is under way, or has ended within a minute. */
  readonly #renewals = new Map<string | undefined, SharedWork>();

  constructor(provider: TokenProvider) {
    super("");
    this.#provider = provider;
  }

  async tokenFor({ rejected, rejectedBefore, inTime }: TokenRequest): Promise<string> {
    if (rejected !== undefined && rejectedBefore !== undefined) return rejected;
    const ask = (renewed?: string): Promise<string> => inTime((limit) => this.#ask(limit.signal, renewed));
    const renewal = this.#renewalOf(rejected);
    if (rejected !== undefined && renewal === undefined) {
      return inTime((limit) => this.#renewFirst(rejected, limit));
    }
    if (renewal !== undefined) await inTime(() => renewal.waitToLimit());
    const token = await ask();
    // The provider may not know yet that it was refused, or not in the context of this call.
    return token === (rejected ?? rejectedBefore) ? ask(token) : token;
  }

  /** A token is for its call alone, so nothing replaces it while the call waits. */
  override isCurrent(): boolean {
    return true;
  }

  #renewalOf(rejected: string | undefined): SharedWork | undefined {
    // The oldest first, up to one that is kept: many cost no more than one.
    for (const [token, { isCurrent }] of this.#renewals) {
      if (isCurrent) break;
      this.#renewals.delete(token);
    }
    const renewal = this.#renewals.get(rejected);
    return renewal?.isCurrent ? renewal : undefined;
  }

  #renewFirst(rejected: string, { leftMs, signal }: Deadline): Promise<string> {
    const result = this.#ask(signal, rejected);
    const ended = result.then(
      () => {},
      () => {},
    );
    const renewal = new SharedWork(ended, leftMs);
    this.#renewals.set(rejected, renewal);
    void ended.then(() => renewal.keep(RENEWED_MS));
    return result;
  }

  async #ask(signal: AbortSignal, rejected: string | undefined): Promise<string> {
    const context: TokenContext = rejected === undefined ? { signal } : { signal, rejected };
    let token: string;
    try {
      token = await this.#provider(context);
    } catch (cause) {
      throw new TokenUnavailable("the token provider failed", { cause });
    }
    const problem = problemOfToken(token);
    if (problem !== undefined) throw new TokenUnavailable(`the token provider returned no usable token: it ${problem}`);
    this.current = token;
    return token;
  }
}
