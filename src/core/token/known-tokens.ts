import { shared } from "../checks/globals.ts";

const MOST = 10_000;

/**
 * The rotating tokens of a process by service and by each plaintext that they had. All copies of the package share it: a
 * framework evaluates a module several times, and a bundler copies a package. A plaintext proves its owner; an id does not.
 * Its map is private, so no print shows a token.
 */
class KnownTokens<Token> {
  readonly #tokens = new Map<string, Token>();

  get(service: string, plaintext: string): Token | undefined {
    return this.#tokens.get(`${service} ${plaintext}`);
  }

  set(service: string, plaintext: string, token: Token): void {
    this.#tokens.set(`${service} ${plaintext}`, token);
    const [oldest = ""] = this.#tokens.keys();
    if (this.#tokens.size > MOST) this.#tokens.delete(oldest);
  }

  /** Lets the clients of this process begin as in a new one: where the tokens of before are given anew, none was rotated. */
  forget(): void {
    this.#tokens.clear();
  }
}

export function knownTokens<Token>(): KnownTokens<Token> {
  return shared("rotating-tokens", () => new KnownTokens<Token>());
}
