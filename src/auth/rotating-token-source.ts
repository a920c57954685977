import type { Rotate, TokenListener, TokenSource } from "./token-source.ts";

/** The state that all clients of one rotating token share. */
export interface RenewingState {
  latest(): { readonly token: string };
  /** The token to send now; renews it first if that is due. */
  read(rotate: Rotate): string | Promise<string>;
  /** Resolves once no renewal is under way. Never rejects. */
  settled(): Promise<void>;
  /** Calls `refresh` whenever the token changes, whichever client's call has renewed it. */
  subscribe(dependent: TokenListener): void;
}

/** A token that renews itself, as one client sees it: it is rotated through that client's own pipeline. */
export class RotatingTokenSource implements TokenSource {
  readonly #state: RenewingState;
  readonly #rotate: Rotate;

  constructor(state: RenewingState, rotate: Rotate) {
    this.#state = state;
    this.#rotate = rotate;
  }

  get current(): string {
    return this.#state.latest().token;
  }

  read(): string | Promise<string> {
    return this.#state.read(this.#rotate);
  }

  canReplace(rejected: string): boolean {
    return this.current !== rejected;
  }

  settled(): Promise<void> {
    return this.#state.settled();
  }

  subscribe(dependent: TokenListener): void {
    this.#state.subscribe(dependent);
  }
}
