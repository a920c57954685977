import { type TokenListener, TokenListeners, type TokenSource } from "./token-source.ts";

/** A token that the client holds. It is changed by `set`: by `client.setToken` and by adopted rotations. */
export class StaticToken implements TokenSource {
  #token: string;
  readonly #rotations = new Set<Promise<void>>();
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

  /** Makes calls that are answered 401 wait until the returned function is called. Set the new token before that. */
  beginRotation(): () => void {
    let finish = (): void => {};
    const rotation = new Promise<void>((resolve) => {
      finish = resolve;
    });
    this.#rotations.add(rotation);
    return () => {
      this.#rotations.delete(rotation);
      finish();
    };
  }
}
