import type { TokenListener } from "./token-source.ts";

/**
 * The listeners of a token source, held weakly: the rate limiter of a client can be collected with that client, though
 * the token source lives on.
 */
export class TokenListeners {
  readonly #known = new WeakSet<TokenListener>();
  #listeners: WeakRef<TokenListener>[] = [];

  add(listener: TokenListener): void {
    if (this.#known.has(listener)) return;
    this.#known.add(listener);
    this.#listeners = this.#listeners.filter((known) => known.deref() !== undefined);
    this.#listeners.push(new WeakRef(listener));
  }

  refresh(): void {
    for (const listener of this.#listeners) listener.deref()?.refresh();
  }
}
