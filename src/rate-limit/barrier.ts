import { after, now } from "../clock.ts";
import type { Pause } from "./rate-limiter.ts";

/** What keeps a lane shut for a time: the pause that the service asked for, or a hold. It has a timer while it is watched. */
export class Barrier {
  readonly #onEnd: () => void;
  /** Ends of the running pause on the monotonic clock: as asked, and with jitter. */
  #pause: { readonly askedUntil: number; readonly until: number } | undefined;
  #heldUntil = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** What is left of the pause. */
  get pause(): Pause | undefined {
    if (this.#pause === undefined) return undefined;
    const lastsMs = this.#pause.until - now();
    if (lastsMs > 0) return { lastsMs, askedMs: Math.max(0, this.#pause.askedUntil - now()) };
    this.#pause = undefined;
    return undefined;
  }

  get isUp(): boolean {
    return (this.#pause !== undefined || this.#heldUntil > 0) && this.#until > now();
  }

  /** Pauses merge by the latest end; gives what is left. */
  prolong({ askedMs, lastsMs }: Pause): number {
    const until = Math.max(now() + lastsMs, this.#pause?.until ?? 0);
    this.#pause = { askedUntil: Math.max(now() + askedMs, this.#pause?.askedUntil ?? 0), until };
    this.#rewatch();
    return until - now();
  }

  hold(ms: number): void {
    this.#heldUntil = now() + ms;
    this.#rewatch();
  }

  endHold(): void {
    this.#heldUntil = 0;
    this.#rewatch();
  }

  watch(): void {
    if (this.#cancelTimer !== undefined || !this.isUp) return;
    this.#cancelTimer = after(this.#until - now(), () => {
      this.#cancelTimer = undefined;
      this.#pause = undefined;
      this.#heldUntil = 0;
      this.#onEnd();
    });
  }

  stopWatching(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  get #until(): number {
    return Math.max(this.#pause?.until ?? 0, this.#heldUntil);
  }

  #rewatch(): void {
    if (this.#cancelTimer === undefined) return;
    this.stopWatching();
    this.watch();
  }
}
