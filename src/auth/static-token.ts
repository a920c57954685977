import type { CreatedToken } from "../models.ts";
import { usableFieldsOf } from "./token-format.ts";
import { type TokenListener, TokenListeners, type TokenSource } from "./token-source.ts";

/** A token that the client holds. It is changed by `client.setToken` and by adopted rotations. */
export class StaticToken implements TokenSource {
  #token: string;
  /** The rotations that are under way. None of them rejects. */
  readonly #rotations = new Set<Promise<unknown>>();
  readonly #listeners = new TokenListeners();

  constructor(token: string) {
    this.#token = token;
  }

  get current(): string {
    return this.#token;
  }

  read(): string {
    return this.#token;
  }

  async renew(rejected: string): Promise<boolean> {
    while (this.#rotations.size > 0 && this.#token === rejected) await Promise.race(this.#rotations);
    return this.#token !== rejected;
  }

  subscribe(listener: TokenListener): () => void {
    return this.#listeners.add(listener);
  }

  set(token: string): void {
    if (token === this.#token) return;
    this.#token = token;
    this.#listeners.refresh();
  }

  /**
   * Makes the replacement that `rotate` resolves the token. If the response is invalid or cut off but has a usable
   * `plaintext`, that is taken all the same, since the old token is revoked by then; the error is thrown nevertheless.
   */
  async adopt(rotate: () => Promise<CreatedToken>): Promise<CreatedToken> {
    const rotation = rotate();
    const adopted = rotation.catch(usableFieldsOf).then(({ plaintext = this.#token }) => this.set(plaintext));
    this.#rotations.add(adopted);
    await adopted;
    this.#rotations.delete(adopted);
    return rotation;
  }
}
