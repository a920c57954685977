import { LONGEST_WORK_MS, SharedWork } from "./shared-work.ts";
import { plaintextOf, recordIn } from "./token-format.ts";
import { LatestToken, type TokenRequest, type TokenSource } from "./token-source.ts";

/** A token that the client holds. `client.setToken` and adopted rotations change it. */
export class StaticToken extends LatestToken implements TokenSource {
  readonly #rotations = new Set<SharedWork>();
  readonly isHeld = true;
  #swaps = 0;

  override set(token: string): void {
    this.#swaps += 1;
    super.set(token);
  }

  /** After a 401, a rotation that is under way may bring another token. */
  tokenFor({ rejected, isRotation, inTime }: TokenRequest): string | Promise<string> {
    if (isRotation || rejected !== this.current || this.#underWay().length === 0) return this.current;
    return inTime(() => this.#replaced(rejected)).then(() => this.current);
  }

  /**
   * Makes the replacement that `rotate` resolves the token, unless the token was swapped by hand meanwhile. If the response is
   * invalid or cut off but has a usable `plaintext`, that becomes the token, since the old one is revoked by then; the error is
   * thrown nevertheless.
   */
  async adopt<Created>(rotate: () => Promise<Created>): Promise<Created> {
    const swaps = this.#swaps;
    const rotation = rotate();
    const adopted = rotation.catch(recordIn).then((record) => {
      if (swaps === this.#swaps) super.set(plaintextOf(record) ?? this.current);
    });
    const work = new SharedWork(adopted, LONGEST_WORK_MS);
    this.#rotations.add(work);
    await adopted;
    this.#rotations.delete(work);
    return rotation;
  }

  #underWay(): SharedWork[] {
    return [...this.#rotations].filter((rotation) => rotation.isCurrent || !this.#rotations.delete(rotation));
  }

  async #replaced(rejected: string): Promise<void> {
    for (let left = this.#underWay(); left.length > 0 && this.current === rejected; left = this.#underWay()) {
      await Promise.race(left.map((rotation) => rotation.waitToLimit()));
    }
  }
}
