/** A platform that drops a call at any `await`: none of its continuations and timers runs from then on. */
import { AsyncLocalStorage } from "node:async_hooks";
import { resolve } from "node:path";
import { build } from "esbuild";
import { afterEach, beforeEach, vi } from "vitest";

/** A request to a platform such as a Worker, which makes calls of the client. */
export class Visit {
  /** Continuations and timers that have run. */
  steps = 0;
  readonly #dropAt: number;

  /** @param dropAt the number of continuations and timers that it may run */
  constructor(dropAt: number) {
    this.#dropAt = dropAt;
  }

  get isDropped(): boolean {
    return this.steps >= this.#dropAt;
  }

  /** Runs in this visit what begins in it. */
  run<Result>(work: () => Result): Result {
    return visits.run(this, work);
  }

  /** Counts a step. Returns whether it may run. */
  mayGoOn(): boolean {
    if (this.isDropped) return false;
    this.steps += 1;
    return true;
  }
}

const visits = new AsyncLocalStorage<Visit>();

/** The client, with functions in the place of `await`: what is awaited goes through `Promise.prototype.then`. */
export async function loadDroppable(): Promise<typeof import("../../../../src/client/index.ts")> {
  const { outputFiles } = await build({
    entryPoints: [resolve(import.meta.dirname, "../../../../src/client/index.ts")],
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    supported: { "async-await": false, "async-generator": false, "for-await": false },
  });
  const url = `data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? []).toString("base64")}`;
  return (await import(/* @vite-ignore */ url)) as typeof import("../../../../src/client/index.ts"); // its bundle
}

/** Call it once in a file. Time is fake. */
export function dropping(): void {
  const { then } = Promise.prototype;
  const realSetTimeout = globalThis.setTimeout;
  type Reaction = ((value: unknown) => unknown) | null | undefined;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
    const set = globalThis.setTimeout;
    globalThis.setTimeout = ((action: () => void, ms?: number) => {
      const visit = visits.getStore();
      return set(() => (visit === undefined || visit.mayGoOn()) && action(), ms);
    }) as typeof setTimeout; // its other forms are not used
    const patched = function (this: Promise<unknown>, onValue: Reaction, onError: Reaction): Promise<unknown> {
      const visit = visits.getStore();
      if (visit === undefined) return then.call(this, onValue, onError);
      const guard = (reaction: Reaction): Reaction =>
        typeof reaction === "function"
          ? (value) => (visit.mayGoOn() ? reaction(value) : new Promise(() => undefined))
          : reaction;
      return then.call(this, guard(onValue), guard(onError));
    };
    // biome-ignore lint/suspicious/noThenProperty: what is awaited has to go through it
    Promise.prototype.then = patched as typeof then; // of the same form
  });
  afterEach(() => {
    // biome-ignore lint/suspicious/noThenProperty: the platform's own
    Promise.prototype.then = then;
    vi.useRealTimers();
    globalThis.setTimeout = realSetTimeout;
  });
}
