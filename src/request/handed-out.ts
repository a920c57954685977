import type { TokenSource } from "../auth/token-source.ts";
import { ignoreErrors } from "../ignore-errors.ts";

/** Older ones are forgotten. */
const MOST = 100;
/** A shorter text may stand in any path. */
const SHORTEST = 8;

/** The plaintexts that clients with a token source have handed out, the latest last. Derived clients share the source. */
const handedOut = new WeakMap<TokenSource, Set<string>>();

/** Notes the plaintext in what a call resolves, if there is one. */
export function notePlaintext(source: TokenSource, output: unknown): void {
  ignoreErrors(() => {
    const plaintext = (output as { plaintext?: unknown } | undefined)?.plaintext; // any output can be asked
    if (typeof plaintext !== "string") return;
    const known = handedOut.get(source) ?? new Set();
    handedOut.set(source, known.add(plaintext));
    for (const oldest of known) if (known.size > MOST) known.delete(oldest);
  });
}

/** Whether the part of a URL behind its base holds the token, or a plaintext that was handed out. */
export function holdsSecret(source: TokenSource, target: string): boolean {
  for (const secret of [source.current, ...(handedOut.get(source) ?? [])]) {
    // Encoded, it is no shorter.
    if (secret.length < SHORTEST || secret.length > target.length) continue;
    if (target.includes(encodeURIComponent(secret))) return true;
  }
  return false;
}
