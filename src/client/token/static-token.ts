import type { CreatedToken } from "../models.ts";
import { plaintextOf, recordIn } from "./token-format.ts";
import { LatestToken, type TokenSource } from "./token-source.ts";

/** A token that the client holds. It is changed by `client.setToken` and by adopted rotations. */
export class StaticToken extends LatestToken implements TokenSource {
  /** The rotations that are under way. None of them rejects. */
  readonly #rotations = new Set<Promise<unknown>>();

  async renew(rejected: string): Promise<boolean> {
    while (this.#rotations.size > 0 && this.current === rejected) await Promise.race(this.#rotations);
    return this.current !== rejected;
  }

  /**
   * Makes the replacement that `rotate` resolves the token. If the response is invalid or cut off but has a usable
   * `plaintext`, that is taken all the same, since the old token is revoked by then; the error is thrown nevertheless.
   */
  async adopt(rotate: () => Promise<CreatedToken>): Promise<CreatedToken> {
    const rotation = rotate();
    const adopted = rotation.catch(recordIn).then((record) => this.set(plaintextOf(record) ?? this.current));
    this.#rotations.add(adopted);
    await adopted;
    this.#rotations.delete(adopted);
    return rotation;
  }
}
