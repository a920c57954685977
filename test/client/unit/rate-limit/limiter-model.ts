/** A model of the rate limiter, which the real one is compared with. */
import { expect, vi } from "vitest";
import { memoryRateLimiter } from "../../../../src/client/rate-limit/memory-rate-limiter.ts";
import type { Admission, Permit, RateLimiter } from "../../../../src/client/rate-limit/rate-limiter.ts";

/** Timers fire up to this much late, by their resolution. */
const TIMER_SLACK_MS = 3;
const WINDOW_MS = 60_000;
/** After this long without a response, a request holds no other back. */
const STALLED_AFTER_MS = 5_000;

/** What the responses of the service say about a token. */
interface Token {
  pausedUntil: number;
  /** The number of pauses that have begun. */
  pauses: number;
  /** The smallest of all calls so far. */
  maxConcurrency: number;
  /** A pause has begun, and no request has succeeded since it ended. */
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
  readonly isSlow: boolean;
  readonly abort: AbortController;
  /** `asking`: it has waited, has a slot, and reads its token again. */
  state: "waiting" | "asking" | "sent" | "over";
  /** The token it was last admitted or sent with, when, and how many pauses had begun then. */
  token: string;
  heldSince: number;
  pausesBefore: number;
}

export interface Arrival {
  readonly maxPauses: number;
  readonly longestPauseMs: number;
  /** The index of its credential. */
  readonly credential: number;
  /** Its token provider is slow. */
  readonly isSlow: boolean;
}

type Reply = { status: number; retryAfterMs?: number | undefined; remaining?: number | undefined };

/** A rate limiter, its calls and its service, with the invariants of each step. The caller fakes time. */
export class LimiterModel {
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
    const call: ModelCall = { ...shared, state: "over", token: "", heldSince: 0, pausesBefore: 0 };
    this.#calls.push(call);
    this.#wait(call);
  }

  /** Responds to a request in flight; a call that gets a 429 is retried up to its `maxPauses`. */
  async respond(which: number, { status, retryAfterMs, remaining }: Reply): Promise<void> {
    const call = pick(this.in("sent"), which);
    if (call === undefined) return;
    const token = this.#known(call.token);
    const pause = call.permit.report({ status, retryAfterMs, limit: undefined, remaining });
    if (remaining !== undefined) token.left = { remaining, at: performance.now() };
    if (status === 429) {
      expect(pause?.pauseMs, "never shorter than asked for").toBeGreaterThanOrEqual(retryAfterMs ?? 4_000);
      token.pausedUntil = Math.max(token.pausedUntil, performance.now() + (pause?.pauseMs ?? 0));
      token.mustProbe = true;
      if (call.pausesBefore === token.pauses) token.pauses += 1;
    } else if (call.pausesBefore === token.pauses && performance.now() >= token.pausedUntil) {
      token.mustProbe = false;
    }
    await this.#release(call);
    if (pause?.waits) this.#wait(call);
  }

  /** A request in flight gets no response; its call is retried or fails. */
  async lose(which: number, triesAgain: boolean): Promise<void> {
    const call = pick(this.in("sent"), which);
    if (call === undefined) return;
    await this.#release(call);
    if (triesAgain) this.#wait(call);
  }

  /** A call that has waited has read its token again. */
  async readAgain(which: number): Promise<void> {
    const call = pick(this.in("asking"), which);
    if (call === undefined) return;
    const { probe } = this.#known(call.token);
    if (probe === call) this.#known(call.token).probe = undefined;
    this.#wait(call);
    await settle();
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

  /** The invariants between two steps. */
  checkRest(): void {
    const waiting = this.in("waiting");
    if (waiting.length === 0) expect(vi.getTimerCount(), "no timer while no call waits").toBe(0);
    for (const call of waiting) {
      expect(call.abort.signal.aborted, "an aborted call leaves at once").toBe(false);
      const { token } = call;
      expect(token, "each waits at the gate of its token").toBe(call.tokenNow());
      const { pausedUntil, maxConcurrency } = this.#known(token);
      const isPaused = performance.now() < pausedUntil + TIMER_SLACK_MS;
      const isFull = this.#busyWith(token).length >= maxConcurrency;
      const isHeldBack = this.#busyWith(token).some((other) => !isStalled(other, TIMER_SLACK_MS));
      expect(isPaused || isFull || isHeldBack, "no call waits without a reason").toBe(true);
    }
  }

  /** Responds with success until every call has ended. */
  async end(): Promise<void> {
    for (let step = 0; step < 500; step += 1) {
      await settle();
      this.checkRest();
      if (this.in("asking").length > 0) await this.readAgain(0);
      else if (this.in("sent").length > 0) await this.respond(0, { status: 200 });
      else if (vi.getTimerCount() > 0) vi.advanceTimersToNextTimer();
      else break;
    }
    const unfinished = this.#calls.filter(({ state }) => state !== "over");
    expect(unfinished.length, "everything comes to an end").toBe(0);
  }

  #wait(call: ModelCall): void {
    const token = call.tokenNow();
    Object.assign(call, { state: "waiting", token });
    this.#limitConcurrency(call);
    const admission = call.permit.acquire(token);
    if ("kind" in admission) this.#settled(call, admission);
    else admission.then((settled) => this.#settled(call, settled)).catch((error: unknown) => void failures.push(error));
  }

  #settled(call: ModelCall, admission: Admission): void {
    const { pausedUntil } = this.#known(call.token);
    switch (admission.kind) {
      case "admitted":
        this.#admitted(call, admission.waited === true);
        return;
      case "moved":
        expect(call.tokenNow(), "moved for another token only").not.toBe(call.token);
        this.#wait(call);
        return;
      case "stopped":
        expect(call.abort.signal.aborted).toBe(true);
        break;
      case "refused":
        expect(pausedUntil, "refused for a pause only").toBeGreaterThan(performance.now());
    }
    call.state = "over";
  }

  #admitted(call: ModelCall, hasWaited: boolean): void {
    const token = this.#known(call.token);
    const now = performance.now();
    const left = token.left !== undefined && now - token.left.at <= WINDOW_MS ? token.left.remaining : Infinity;
    const others = this.#busyWith(call.token);
    expect(now, "nothing during a pause of its token").toBeGreaterThanOrEqual(token.pausedUntil);
    expect(others.length, "never more than maxConcurrency").toBeLessThan(token.maxConcurrency);
    const ahead = this.in("waiting").filter((one) => one.place < call.place && one.token === call.token);
    expect(ahead.filter((one) => !one.abort.signal.aborted).length, "first come, first served").toBe(0);
    if (token.mustProbe) {
      const mayProbe = token.probe === undefined || !others.includes(token.probe) || isStalled(token.probe);
      expect(mayProbe, "one probe after a pause, until it stalls").toBe(true);
      token.probe = call;
    } else {
      const counted = others.filter((other) => !isStalled(other));
      expect(counted.length, "never more than what is left").toBeLessThan(Math.max(1, left));
    }
    const state = hasWaited ? "asking" : "sent";
    Object.assign(call, { state, heldSince: now, pausesBefore: token.pauses });
    if (hasWaited && !call.isSlow) this.#wait(call);
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

/** Failures in promises that are not awaited. */
export const failures: unknown[] = [];

function pick<Item>(items: readonly Item[], which: number): Item | undefined {
  return items[which % Math.max(1, items.length)];
}

/** Lets everything settle that needs no timer. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
  if (failures.length > 0) throw failures.splice(0)[0];
}
