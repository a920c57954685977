/** Counts of requests: the emulator and the page in a browser keep them in the same way. */
import type { Counts, PageRequest, Pause } from "./events.ts";

export type Kind = keyof Counts;

export const STEP_MS = 100;
export const MINUTE_MS = 60_000;
/** A pause that has ended is of no more use than the steps beside it. More pauses than that are no picture. */
const MOST_PAUSES = 100;

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

export const NOTHING: Counts = { accepted: 0, refused: 0, failed: 0, lost: 0 };

export function sumOf(all: readonly Counts[]): Counts {
  const sum = { ...NOTHING };
  for (const kind of Object.keys(sum) as Kind[]) for (const counts of all) sum[kind] += counts[kind];
  return sum;
}

/** The way in which a request has ended; `undefined` as long as it is pending. */
export function kindOf({ fate, status = 0 }: Pick<PageRequest, "fate" | "status">): Kind | undefined {
  if (fate === "pending") return undefined;
  if (fate === "lost") return "lost";
  if (fate === "answered" && status < 400) return "accepted";
  return status >= 400 && status < 500 ? "refused" : "failed";
}

/** The counts of one world: in all, and by steps of the last minute. */
export class Tally {
  readonly counts: Mutable<Counts>;
  #steps: Map<number, Mutable<Counts>>;
  #pauses: Mutable<Pause>[];

  constructor(from?: { counts: Counts; steps: readonly (Counts & { at: number })[]; pauses: readonly Pause[] }) {
    this.counts = { ...(from?.counts ?? NOTHING) };
    this.#steps = new Map(from?.steps.map(({ at, ...counts }) => [at, counts]));
    this.#pauses = from?.pauses.map((pause) => ({ ...pause })) ?? [];
  }

  /** Counts a request that has ended, at the time of its arrival. */
  count(at: number, request: Pick<PageRequest, "fate" | "status">): void {
    const kind = kindOf(request);
    if (kind === undefined) return;
    const start = Math.floor(at / STEP_MS) * STEP_MS;
    let step = this.#steps.get(start);
    if (step === undefined) {
      step = { ...NOTHING };
      this.#steps.set(start, step);
      if (this.#steps.size > (2 * MINUTE_MS) / STEP_MS) this.#forget(start);
    }
    step[kind] += 1;
    this.counts[kind] += 1;
  }

  /** Notes a pause; one that goes on while a token waits already is the same pause. */
  pause({ token, from, until }: Pause): void {
    const same = this.#pauses.find((one) => one.token?.id === token?.id && one.from <= from && from <= one.until);
    if (same === undefined) this.#pauses = [...this.#pauses.slice(1 - MOST_PAUSES), { token, from, until }];
    else same.until = Math.max(same.until, until);
  }

  /** The steps of the minute before `now` in which requests came, oldest first. */
  steps(now: number): readonly (Counts & { readonly at: number })[] {
    const steps = Array.from(this.#steps, ([at, counts]) => ({ at, ...counts }));
    return steps.filter(({ at }) => at > now - MINUTE_MS).sort((one, other) => one.at - other.at);
  }

  pauses(now: number): readonly Pause[] {
    return this.#pauses.filter(({ until }) => until > now - MINUTE_MS);
  }

  #forget(now: number): void {
    for (const at of this.#steps.keys()) if (at <= now - MINUTE_MS) this.#steps.delete(at);
  }
}
