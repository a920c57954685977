import { TokenListeners } from "./token-listeners.ts";
import type { TokenListener, TokenSource } from "./token-source.ts";

/** A token held by the client. It changes by `set`, and by rotations that were asked to be adopted. */
export class StaticToken implements TokenSource {
  #token: string;
  readonly #rotations = new Set<Promise<void>>();
  readonly #dependents = new TokenListeners();

  constructor(token: string) {
    this.#token = token;
  }

  get current(): string {
    return this.#token;
  }

  read(): string {
    return this.#token;
  }

  canReplace(rejected: string): boolean {
    return this.#token !== rejected;
  }

  async settled(rejected: string): Promise<void> {
    while (this.#rotations.size > 0 && this.#token === rejected) await Promise.race(this.#rotations);
  }

  subscribe(dependent: TokenListener): void {
    this.#dependents.add(dependent);
  }

  set(token: string): void {
    if (token === this.#token) return;
    this.#token = token;
    this.#dependents.refresh();
  }

  /** From now on calls that are refused wait, until the function that this gives is called. The token is to be set by then. */
  beginRotation(): () => void {
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    this.#rotations.add(finished);
    return () => {
      this.#rotations.delete(finished);
      finish();
    };
  }
}
