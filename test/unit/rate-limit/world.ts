/** A model of what a rate limiter may do, to hold the real one against. */
import { expect, vi } from "vitest";
import { memoryRateLimiter } from "../../../src/rate-limit/memory-rate-limiter.ts";
import type { Permit, RateLimiter } from "../../../src/rate-limit/rate-limiter.ts";

/** Timers fire up to this much late, by their resolution. */
const TIMER_SLACK_MS = 3;
const WINDOW_MS = 60_000;
/** After this long without a response, a request holds no other back. */
const STALLED_AFTER_MS = 5_000;

/** What is known of a token, from what the service has said alone. */
interface Token {
  pausedUntil: number;
  /** How many pauses have begun. */
  pauses: number;
  /** The smallest of all calls that came. */
  maxConcurrency: number;
  /** A pause has begun, and nothing has got through since it ended. */
  mustProbe: boolean;
  probe: ModelCall | undefined;
  left: { readonly remaining: number; readonly at: number } | undefined;
}

interface ModelCall {
  readonly permit: Permit;
  /** Orders calls: the lower, the earlier. */
  readonly place: number;
  readonly maxConcurrency: number;
  readonly tokenNow: () => string;
  readonly maxPauses: number;
  readonly isSlow: boolean;
  readonly abort: AbortController;
  /** `asking`: it has a slot, and its token is being got. */
  state: "waiting" | "asking" | "sent" | "over";
  /** The token it was last admitted or sent with, when, and how many pauses had begun then. */
  token: string;
  heldSince: number;
  pausesBefore: number;
  refusals: number;
}

export interface Arrival {
  readonly maxPauses: number;
  readonly longestPauseMs: number;
  /** Whose token it goes by. */
  readonly credential: number;
  /** Getting its token takes a while. */
  readonly isSlow: boolean;
}

type Answer = { status: number; retryAfterMs?: number | undefined; remaining?: number | undefined };

/** A rate limiter, its calls and its service, with what must hold at each step. Time is faked by the caller. */
export class World {
  readonly #limiter: RateLimiter = memoryRateLimiter();
  readonly #credentials = ["a", "b"];
  readonly #tokens = new Map<string, Token>();
  readonly #calls: ModelCall[] = [];
  readonly #maxConcurrency: number;

  constructor(maxConcurrency: number) {
    this.#maxConcurrency = maxConcurrency;
  }

  arrive({ maxPauses, longestPauseMs, credential, isSlow }: Arrival): void {
    const abort = new AbortController();
    const tokenNow = (): string => this.#credentials[credential] ?? "";
    // The smallest counts, for each token: that of its first call.
    const maxConcurrency = this.#maxConcurrency + this.#calls.length;
    const permit = this.#limiter.enter({
      token: tokenNow,
      maxConcurrency,
      maxPauses,
      maxPauseMs: longestPauseMs,
      endsAt: Number.POSITIVE_INFINITY,
      signal: abort.signal,
    });
    const shared = { permit, place: this.#calls.length, maxConcurrency, tokenNow, maxPauses, isSlow, abort };
    const call: ModelCall = { ...shared, state: "over", token: "", heldSince: 0, pausesBefore: 0, refusals: 0 };
    this.#calls.push(call);
    this.#standInLine(call);
  }

  /** Answers one of those that are in flight; a refused one tries again as long as it has patience. */
  async answer(which: number, { status, retryAfterMs, remaining }: Answer): Promise<void> {
    const call = pick(this.in("sent"), which);
    if (call === undefined) return;
    const token = this.#known(call.token);
    const pauseMs = call.permit.report({ status, retryAfterMs, limit: undefined, remaining });
    if (remaining !== undefined) token.left = { remaining, at: performance.now() };
    if (status === 429) {
      expect(pauseMs, "never shorter than asked for").toBeGreaterThanOrEqual(retryAfterMs ?? 4_000);
      token.pausedUntil = Math.max(token.pausedUntil, performance.now() + (pauseMs ?? 0));
      token.mustProbe = true;
      if (call.pausesBefore === token.pauses) token.pauses += 1;
      call.refusals += 1;
    } else if (call.pausesBefore === token.pauses && performance.now() >= token.pausedUntil) {
      token.mustProbe = false;
    }
    await this.#release(call);
    if (status === 429 && call.refusals <= call.maxPauses) this.#standInLine(call);
  }

  /** One in flight is never answered, and tries again or gives up. */
  async lose(which: number, triesAgain: boolean): Promise<void> {
    const call = pick(this.in("sent"), which);
    if (call === undefined) return;
    await this.#release(call);
    if (triesAgain) this.#standInLine(call);
  }

  async confirm(which: number): Promise<void> {
    const call = pick(this.in("asking"), which);
    if (call !== undefined) await this.#send(call);
  }

  abortWaiting(which: number): void {
    pick(this.in("waiting"), which)?.abort.abort();
  }

  changeToken(credential: number, to: string): void {
    this.#credentials[credential] = to;
    for (const call of this.in("waiting")) this.#limitConcurrency(call);
    this.#limiter.refresh();
  }

  in(state: ModelCall["state"]): ModelCall[] {
    return this.#calls.filter((call) => call.state === state);
  }

  /** What must hold whenever nothing more happens by itself. */
  checkRest(): void {
    const waiting = this.in("waiting");
    if (waiting.length === 0) expect(vi.getTimerCount(), "no timer while nobody waits").toBe(0);
    for (const call of waiting) {
      expect(call.abort.signal.aborted, "an aborted call leaves at once").toBe(false);
      const name = call.tokenNow();
      const { pausedUntil, maxConcurrency } = this.#known(name);
      const isPaused = performance.now() < pausedUntil + TIMER_SLACK_MS;
      const isFull = this.#busyWith(name).length >= maxConcurrency;
      const isHeldBack = this.#busyWith(name).some((other) => !isStalled(other, TIMER_SLACK_MS));
      expect(isPaused || isFull || isHeldBack, "no call waits without a reason").toBe(true);
    }
  }

  /** Answers everything well until all is over. */
  async end(): Promise<void> {
    for (let step = 0; step < 500; step += 1) {
      await settle();
      this.checkRest();
      if (this.in("asking").length > 0) await this.confirm(0);
      else if (this.in("sent").length > 0) await this.answer(0, { status: 200 });
      else if (vi.getTimerCount() > 0) vi.advanceTimersToNextTimer();
      else break;
    }
    const unfinished = this.#calls.filter(({ state }) => state !== "over");
    expect(unfinished.length, "everything comes to an end").toBe(0);
  }

  #standInLine(call: ModelCall): void {
    call.state = "waiting";
    this.#limitConcurrency(call);
    const told = Promise.resolve(call.permit.acquire()).then(({ kind }) => {
      if (kind === "admitted") return this.#admitted(call);
      call.state = "over";
      if (kind === "stopped") expect(call.abort.signal.aborted).toBe(true);
      else expect(this.#known(call.tokenNow()).pausedUntil, "refused for a pause only").toBeGreaterThan(0);
    });
    told.catch((error: unknown) => void failures.push(error));
  }

  #admitted(call: ModelCall): void {
    const { maxConcurrency, pauses } = this.#known(call.tokenNow());
    expect(this.#busyWith(call.tokenNow()).length, "never more than maxConcurrency").toBeLessThan(maxConcurrency);
    const ahead = this.in("waiting").filter((one) => one.place < call.place && one.tokenNow() === call.tokenNow());
    expect(ahead.filter((one) => !one.abort.signal.aborted).length, "first come, first served").toBe(0);
    Object.assign(call, {
      state: "asking",
      token: call.tokenNow(),
      heldSince: performance.now(),
      pausesBefore: pauses,
    });
    if (!call.isSlow) this.#send(call).catch((error: unknown) => void failures.push(error));
  }

  /** Its token is known: it is sent, or waits again if it may not be. */
  async #send(call: ModelCall): Promise<void> {
    const name = call.tokenNow();
    if (call.permit.confirm(name) !== true) {
      await this.#release(call);
      return this.#standInLine(call);
    }
    call.state = "over";
    const token = this.#known(name);
    const now = performance.now();
    const left = token.left !== undefined && now - token.left.at <= WINDOW_MS ? token.left.remaining : Infinity;
    const others = this.#busyWith(name);
    const counted = others.filter((other) => other.state === "sent" && !isStalled(other));
    expect(now, "nothing during a pause of its token").toBeGreaterThanOrEqual(token.pausedUntil);
    this.#limitConcurrency({ ...call, tokenNow: () => name });
    // Those that are still asking for their token may have to yield.
    const sent = others.filter(({ state }) => state === "sent");
    expect(sent.length, "never more than maxConcurrency").toBeLessThan(token.maxConcurrency);
    if (token.mustProbe) {
      const mayProbe = token.probe === undefined || token.probe.state !== "sent" || isStalled(token.probe);
      expect(mayProbe, "one probe after a pause, until it stalls").toBe(true);
      token.probe = call;
    } else {
      expect(counted.length, "never more than what is left").toBeLessThan(Math.max(1, left));
    }
    Object.assign(call, { state: "sent", token: name, heldSince: now, pausesBefore: token.pauses });
  }

  #limitConcurrency({ tokenNow, maxConcurrency }: Pick<ModelCall, "tokenNow" | "maxConcurrency">): void {
    const token = this.#known(tokenNow());
    token.maxConcurrency = Math.min(token.maxConcurrency, maxConcurrency);
  }

  #busyWith(token: string): ModelCall[] {
    return [...this.in("sent"), ...this.in("asking")].filter((call) => call.token === token);
  }

  async #release(call: ModelCall): Promise<void> {
    const token = this.#known(call.token);
    if (token.probe === call) token.probe = undefined;
    call.state = "over";
    call.permit.release();
    await settle();
  }

  #known(name: string): Token {
    const none = { probe: undefined, left: undefined, maxConcurrency: Number.POSITIVE_INFINITY };
    const fresh = { pausedUntil: 0, pauses: 0, mustProbe: false, ...none };
    const known: Token = this.#tokens.get(name) ?? fresh;
    this.#tokens.set(name, known);
    return known;
  }
}

function isStalled({ heldSince }: ModelCall, slackMs = 0): boolean {
  return performance.now() - heldSince >= STALLED_AFTER_MS + slackMs;
}

/** What has failed in a promise that is not awaited. */
export const failures: unknown[] = [];

function pick<Item>(items: readonly Item[], which: number): Item | undefined {
  return items[which % Math.max(1, items.length)];
}

/** Lets everything happen that needs no time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
  if (failures.length > 0) throw failures.splice(0)[0];
}
