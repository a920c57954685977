import type { Credential, Dependent } from "./credential.ts";

/** A token held by the client. It changes by `set`, and by rotations that were asked to be adopted. */
export class StaticCredential implements Credential {
  #token: string;
  readonly #rotations = new Set<Promise<void>>();
  readonly #dependents = new Set<Dependent>();

  constructor(token: string) {
    this.#token = token;
  }

  get current(): string {
    return this.#token;
  }

  read(): string {
    return this.#token;
  }

  canReplace(rejected: string): boolean | Promise<boolean> {
    if (this.#token !== rejected || this.#rotations.size === 0) return this.#token !== rejected;
    return this.#replacedAfter(rejected);
  }

  inform(dependent: Dependent): void {
    this.#dependents.add(dependent);
  }

  set(token: string): void {
    if (token === this.#token) return;
    this.#token = token;
    for (const dependent of this.#dependents) dependent.refresh();
  }

  /** Lets calls that are refused meanwhile wait for `rotation`, which sets the token itself before it settles. */
  during<Result>(rotation: Promise<Result>): Promise<Result> {
    const settled = rotation.then(
      () => {},
      () => {},
    );
    this.#rotations.add(settled);
    void settled.then(() => this.#rotations.delete(settled));
    return rotation;
  }

  async #replacedAfter(rejected: string): Promise<boolean> {
    while (this.#rotations.size > 0 && this.#token === rejected) await Promise.race(this.#rotations);
    return this.#token !== rejected;
  }
}
