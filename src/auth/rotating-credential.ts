import type { Credential, Dependent } from "./credential.ts";
import type { Rotate, SelfRenewingToken } from "./rotating-token.ts";

/** A token that renews itself, as one client sees it: it is rotated through that client's own pipeline. */
export class RotatingCredential implements Credential {
  readonly #state: SelfRenewingToken;
  readonly #rotate: Rotate;
  readonly #dependents = new Set<Dependent>();

  constructor(state: SelfRenewingToken, rotate: Rotate) {
    this.#state = state;
    this.#rotate = rotate;
  }

  get current(): string {
    return this.#state.latest().token;
  }

  read(): string | Promise<string> {
    const before = this.current;
    const token = this.#state.read(this.#rotate);
    return typeof token === "string" ? token : this.#told(before, token);
  }

  async canReplace(rejected: string, patient: boolean): Promise<boolean> {
    if (patient) await this.#state.settled();
    return this.current !== rejected;
  }

  inform(dependent: Dependent): void {
    this.#dependents.add(dependent);
  }

  async #told(before: string, renewed: Promise<string>): Promise<string> {
    const token = await renewed;
    if (token !== before) for (const dependent of this.#dependents) dependent.refresh();
    return token;
  }
}
