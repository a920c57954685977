/** A model of the rate limiter, which the real one is compared with. */
import { expect, vi } from "vitest";
import { memoryRateLimiter } from "../../../src/rate-limit/memory-rate-limiter.ts";
import type { Permit, RateLimiter } from "../../../src/rate-limit/rate-limiter.ts";

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
  readonly maxPauses: number;
  readonly isSlow: boolean;
  readonly abort: AbortController;
  /** `asking`: it has a slot, and waits for its token. */
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
    const call: ModelCall = { ...shared, state: "over", token: "", heldSince: 0, pausesBefore: 0, refusals: 0 };
    this.#calls.push(call);
    this.#wait(call);
  }

  /** Responds to a request in flight; a call that gets a 429 is retried up to its `maxPauses`. */
  async respond(which: number, { status, retryAfterMs, remaining }: Reply): Promise<void> {
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
    if (status === 429 && call.refusals <= call.maxPauses) this.#wait(call);
  }

  /** A request in flight gets no response; its call is retried or fails. */
  async lose(which: number, triesAgain: boolean): Promise<void> {
    const call = pick(this.in("sent"), which);
    if (call === undefined) return;
    await this.#release(call);
    if (triesAgain) this.#wait(call);
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

  /** The invariants between two steps. */
  checkRest(): void {
    const waiting = this.in("waiting");
    if (waiting.length === 0) expect(vi.getTimerCount(), "no timer while no call waits").toBe(0);
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

  /** Responds with success until every call has ended. */
  async end(): Promise<void> {
    for (let step = 0; step < 500; step += 1) {
      await settle();
      this.checkRest();
      if (this.in("asking").length > 0) await this.confirm(0);
      else if (this.in("sent").length > 0) await this.respond(0, { status: 200 });
      else if (vi.getTimerCount() > 0) vi.advanceTimersToNextTimer();
      else break;
    }
    const unfinished = this.#calls.filter(({ state }) => state !== "over");
    expect(unfinished.length, "everything comes to an end").toBe(0);
  }

  #wait(call: ModelCall): void {
    call.state = "waiting";
    this.#limitConcurrency(call);
    const admission = Promise.resolve(call.permit.acquire()).then(({ kind }) => {
      if (kind === "admitted") return this.#admitted(call);
      call.state = "over";
      if (kind === "stopped") expect(call.abort.signal.aborted).toBe(true);
      else expect(this.#known(call.tokenNow()).pausedUntil, "refused for a pause only").toBeGreaterThan(0);
    });
    admission.catch((error: unknown) => void failures.push(error));
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

  /** Its token is known: it is sent, or waits again if the limiter does not confirm it. */
  async #send(call: ModelCall): Promise<void> {
    const name = call.tokenNow();
    if (call.permit.confirm(name) !== true) {
      await this.#release(call);
      return this.#wait(call);
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
