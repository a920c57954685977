import type { Credential, Dependent, Rotate } from "./credential.ts";

/** The state that all clients of one rotating token share. */
export interface RenewingState {
  latest(): { readonly token: string };
  /** The token to send now; renews it first if that is due. */
  read(rotate: Rotate): string | Promise<string>;
  /** Settles when no renewal is under way. Never rejects. */
  settled(): Promise<void>;
}

/** A token that renews itself, as one client sees it: it is rotated through that client's own pipeline. */
export class RotatingCredential implements Credential {
  readonly #state: RenewingState;
  readonly #rotate: Rotate;
  readonly #dependents = new Set<Dependent>();

  constructor(state: RenewingState, rotate: Rotate) {
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
