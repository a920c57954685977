import type { TokenListener } from "./token-source.ts";

/**
 * Those that go by a token, told when it changes. They are not kept alive by it: a rate limiter that was made for one
 * client goes with that client, though the credential is shared.
 */
export class TokenListeners {
  readonly #known = new WeakSet<TokenListener>();
  #members: WeakRef<TokenListener>[] = [];

  add(dependent: TokenListener): void {
    if (this.#known.has(dependent)) return;
    this.#known.add(dependent);
    this.#members = this.#members.filter((member) => member.deref() !== undefined);
    this.#members.push(new WeakRef(dependent));
  }

  refresh(): void {
    for (const member of this.#members) member.deref()?.refresh();
  }
}
