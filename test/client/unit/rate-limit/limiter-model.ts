/** A model of the rate limiter, which the real one is compared with. */
import { AsyncLocalStorage } from "node:async_hooks";
import { expect, vi } from "vitest";
import { memoryRateLimiter } from "../../../../src/core/rate-limit/memory-rate-limiter.ts";
import { narrowed, type Pace, paceAt, UNPACED, widened } from "../../../../src/core/rate-limit/pace.ts";
import type { Admission, Permit, RateLimiter } from "../../../../src/core/rate-limit/rate-limiter.ts";
import type { Ticket } from "../../../../src/core/rate-limit/token-gate.ts";
import { fakeNow } from "../../../support/fake-time.ts";

/** Timers fire up to this much late, by their resolution. */
const TIMER_SLACK_MS = 3;
const WINDOW_MS = 60_000;
/** After this long without a response, a request holds no other back. */
const STALLED_AFTER_MS = 5_000;
/** A slot ends so long after its request has to, or after it was given to a call that does not take it. */
const GRACE_MS = 250;
/** The slot of a request without a time limit. */
const LONGEST_REQUEST_MS = 300_000;

/** What the responses of the service say about a token. */
interface Token {
  pausedUntil: number;
  /** The number of pauses that have begun. */
  pauses: number;
  /** A pause has begun, and no request has succeeded since it ended. */
  mustProbe: boolean;
  probe: ModelCall | undefined;
  left: { readonly remaining: number; readonly at: number } | undefined;
  /** Its rule has a table of its own. */
  pace: Pace;
  sentAt: number;
}

interface ModelCall extends Omit<Arrival, "maxPauses" | "longestPauseMs"> {
  readonly permit: Permit;
  /** Orders calls: the lower, the earlier. */
  readonly place: number;
  readonly abort: AbortController;
  /** `dropped`: the platform runs none of its continuations and timers any more. */
  state: "waiting" | "sent" | "over" | "dropped";
  /** Whether it is in the queue. */
  isQueued: boolean;
  /** The token that it waits for or was sent with. */
  token: string;
  /** Its present wait, among all of them: what an earlier one resolves with is of no interest. */
  wait: number;
  /** Its latest admission, among all of them. */
  admission: number;
  /** When it was sent, and how many pauses had begun then. */
  heldSince: number;
  pausesBefore: number;
  /** No other request has been in flight beside it, and it was not the probe. */
  /** Its slot ends by then, if it has one. */
  endsAt: number;
  /** Ends its request by its time limit. */
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** The call that runs: a platform drops it with its timers. */
const running = new AsyncLocalStorage<{ readonly state: string }>();

/** Runs a part of a call whose timers do nothing once its state is `dropped`. */
export function runDroppably<Result>(call: { readonly state: string }, part: () => Result): Result {
  return running.run(call, part);
}

/** Makes timers of calls that were dropped do nothing. Call it when time is faked. */
export function dropTimers(): void {
  const set = globalThis.setTimeout;
  globalThis.setTimeout = ((action: () => void, ms?: number) => {
    const call = running.getStore();
    return set(() => call?.state !== "dropped" && action(), ms);
  }) as typeof setTimeout; // the other forms of it are not used
}

export interface Arrival {
  readonly maxPauses: number;
  readonly longestPauseMs: number;
  readonly maxConcurrency: number;
  readonly timeoutMs: number;
  /** The index of its credential. */
  readonly credential: number;
  /** Whether it leaves for the queue of another token when its credential changes, or has a token for itself alone. */
  readonly isWatching: boolean;
}

type Reply = { status: number; retryAfterMs?: number | undefined; remaining?: number | undefined };

/** A rate limiter, its calls and its service, with the invariants of each step. The caller fakes time. */
export class LimiterModel {
  readonly #limiter: RateLimiter = memoryRateLimiter();
  readonly #credentials = ["a", "b"];
  readonly #tokens = new Map<string, Token>();
  readonly #calls: ModelCall[] = [];
  #waits = 0;
  #admissions = 0;
  /** The latest wait that had begun when everything had last settled: the limiter decides between two of these moments. */
  #settledWaits = 0;
  /** Timers of calls that were dropped: they stay in the fake clock, but do nothing. */
  #deadTimers = 0;

  arrive({ maxPauses, longestPauseMs, ...arrival }: Arrival): void {
    const abort = new AbortController();
    const { maxConcurrency, timeoutMs } = arrival;
    const permit = this.#limiter.enter({
      service: "https://a.example/api/v1",
      maxConcurrency,
      timeoutMs,
      maxPauses,
      maxPauseMs: longestPauseMs,
      endsAt: Number.POSITIVE_INFINITY,
      signal: abort.signal,
    });
    const fresh = {
      token: "",
      wait: 0,
      admission: 0,
      heldSince: 0,
      pausesBefore: 0,
      endsAt: 0,
      timer: undefined,
    };
    const place = this.#calls.length;
    const call: ModelCall = { ...arrival, ...fresh, state: "over", isQueued: false, permit, place, abort };
    this.#calls.push(call);
    const ticket = permit as Ticket; // the limiter's own permits are
    const wake = ticket.wake.bind(ticket);
    ticket.wake = () => {
      if (ticket.state !== "waiting") call.isQueued = false;
      if (ticket.state === "admitted") call.admission = ++this.#admissions;
      if (call.state !== "dropped") wake();
      else if (ticket.state === "admitted") {
        call.heldSince = fakeNow();
        call.endsAt = call.heldSince + GRACE_MS;
      }
    };
    this.#wait(call);
  }

  /** Responds to a request in flight; a call that gets a 429 is retried up to its `maxPauses`. */
  async respond(which: number, { status, retryAfterMs, remaining }: Reply): Promise<void> {
    const call = pick(this.in("sent"), which);
    if (call === undefined) return;
    const token = this.#known(call.token);
    const pause = call.permit.report({ status, retryAfterMs, limit: undefined, remaining });
    if (call.endsAt <= fakeNow()) {
      expect(call.timeoutMs, "its slot has ended, since it has no time limit").toBe(Number.POSITIVE_INFINITY);
    }
    if (remaining !== undefined) token.left = { remaining, at: fakeNow() };
    if (status === 429) {
      expect(pause?.pauseMs, "never shorter than asked for").toBeGreaterThanOrEqual(retryAfterMs ?? 500);
      token.pausedUntil = Math.max(token.pausedUntil, fakeNow() + (pause?.pauseMs ?? 0));
      token.mustProbe = true;
      if (call.pausesBefore === token.pauses) {
        token.pauses += 1;
        const inFlight = this.#busyWith(call.token).length;
        const pauseMs = pause?.pauseMs ?? 0;
        token.pace = narrowed(token.pace, { at: fakeNow(), sentAt: call.heldSince, inFlight, pauseMs });
      }
    } else if (call.pausesBefore === token.pauses) {
      if (fakeNow() >= token.pausedUntil) token.mustProbe = false;
      token.pace = widened(paceAt(token.pace, fakeNow()), call.heldSince);
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

  abortWaiting(which: number): void {
    pick(this.in("waiting"), which)?.abort.abort();
  }

  /** The platform drops a call: what it waits for never goes on, and its timers never fire. */
  drop(which: number): void {
    const call = pick(
      this.#calls.filter(({ state }) => state === "waiting" || state === "sent"),
      which,
    );
    if (call === undefined) return;
    if (call.state === "waiting") this.#deadTimers += 1;
    clearTimeout(call.timer);
    call.state = "dropped";
  }

  /** Calls that watch this credential leave their queue, and join that of the new token at their position. */
  changeToken(credential: number, to: string): void {
    this.#credentials[credential] = to;
    for (const call of this.in("waiting")) {
      const isConcerned = call.credential === credential && call.isWatching && call.token !== to;
      if (isConcerned && !call.abort.signal.aborted) {
        call.permit.release();
        this.#wait(call);
      }
    }
  }

  in(state: ModelCall["state"]): ModelCall[] {
    return this.#calls.filter((call) => call.state === state);
  }

  /** Everything has settled that needs no timer. */
  rest(): void {
    this.#settledWaits = this.#waits;
  }

  /** The invariants between two steps. */
  checkRest(): void {
    this.rest();
    const waiting = this.in("waiting");
    if (waiting.length === 0) {
      const limits = this.in("sent").filter(({ timeoutMs }) => timeoutMs !== Number.POSITIVE_INFINITY).length;
      const most = limits + this.#deadTimers;
      expect(vi.getTimerCount(), "no timer while no call waits").toBeLessThanOrEqual(most);
    }
    for (const call of waiting) {
      expect(call.abort.signal.aborted, "an aborted call leaves at once").toBe(false);
      const { token } = call;
      const isPaused = fakeNow() < this.#known(token).pausedUntil + TIMER_SLACK_MS;
      const first = this.#calls.find((one) => one.isQueued && one.token === token);
      const isFull = this.#busyWith(token, TIMER_SLACK_MS).length >= (first?.maxConcurrency ?? Infinity);
      const isHeldBack = this.#busyWith(token, TIMER_SLACK_MS).some((other) => !isStalled(other, TIMER_SLACK_MS));
      const { sentAt, pace } = this.#known(token);
      const isTooNear = fakeNow() < sentAt + pace.distanceMs + TIMER_SLACK_MS;
      expect(isPaused || isFull || isHeldBack || isTooNear, "no call waits without a reason").toBe(true);
    }
  }

  /** Responds with success until every call has ended. What was dropped holds nobody up for longer than its slot lasts. */
  async end(): Promise<void> {
    for (let step = 0; step < 1_000; step += 1) {
      await settle();
      this.checkRest();
      if (this.in("sent").length > 0) await this.respond(0, { status: 200 });
      else if (this.in("waiting").length > 0 && vi.getTimerCount() > 0) vi.advanceTimersToNextTimer();
      else break;
    }
    const unfinished = this.#calls.filter(({ state }) => state !== "over" && state !== "dropped");
    expect(unfinished.length, "everything comes to an end").toBe(0);
  }

  #wait(call: ModelCall): void {
    this.#waits += 1;
    const wait = this.#waits;
    const token = call.isWatching || call.token === "" ? (this.#credentials[call.credential] ?? "") : call.token;
    Object.assign(call, { state: "waiting", isQueued: true, token, wait, endsAt: 0 });
    const admission = runDroppably(call, () => call.permit.acquire(token));
    const settled = (end: Admission): void => {
      if (call.wait === wait && call.state === "waiting") this.#settled(call, end);
    };
    if ("kind" in admission) settled(admission);
    else admission.then(settled).catch((error: unknown) => void failures.push(error));
  }

  #settled(call: ModelCall, admission: Admission): void {
    const { pausedUntil } = this.#known(call.token);
    if (admission.kind === "admitted" && !call.abort.signal.aborted) {
      this.#admitted(call);
      return;
    }
    if (admission.kind === "stopped") expect(call.abort.signal.aborted).toBe(true);
    if (admission.kind === "refused") {
      expect(pausedUntil, "refused for a pause only").toBeGreaterThan(fakeNow());
    }
    Object.assign(call, { state: "over", isQueued: false });
    call.permit.release();
  }

  #admitted(call: ModelCall): void {
    const token = this.#known(call.token);
    const now = fakeNow();
    const left = token.left !== undefined && now - token.left.at <= WINDOW_MS ? token.left.remaining : Infinity;
    const others = this.#busyWith(call.token);
    expect(now, "nothing during a pause of its token").toBeGreaterThanOrEqual(token.pausedUntil);
    // Those behind it may have been admitted in the same turn.
    const before = others.filter(({ admission }) => admission < call.admission);
    expect(before.length, "never more than maxConcurrency").toBeLessThan(call.maxConcurrency);
    const ahead = this.#calls.filter((one) => one.isQueued && one.place < call.place && one.token === call.token);
    const overtaken = ahead.filter(({ wait }) => wait <= this.#settledWaits);
    expect(overtaken.length, "first come, first served").toBe(0);
    if (token.mustProbe) {
      const mayProbe = token.probe === undefined || !others.includes(token.probe) || isStalled(token.probe);
      expect(mayProbe, "one probe after a pause, until it stalls").toBe(true);
      token.probe = call;
    } else {
      const counted = others.filter((other) => !isStalled(other));
      const { width, distanceMs } = paceAt(token.pace, now);
      const room = left < Infinity ? left : width;
      expect(counted.length, "never more than what is left, or than the width").toBeLessThan(Math.max(1, room));
      if (left === Infinity) expect(now, "at its distance").toBeGreaterThanOrEqual(token.sentAt + distanceMs);
    }
    token.sentAt = now;
    const endsAt = now + Math.min(call.timeoutMs, LONGEST_REQUEST_MS) + GRACE_MS;
    Object.assign(call, { state: "sent", isQueued: false, heldSince: now, pausesBefore: token.pauses, endsAt });
    if (call.timeoutMs !== Number.POSITIVE_INFINITY) {
      call.timer = setTimeout(() => void this.#release(call).catch((error) => failures.push(error)), call.timeoutMs);
    }
  }

  /** Those in flight, and what was dropped in flight, as long as that has its slot. */
  #busyWith(token: string, slackMs = 0): ModelCall[] {
    const now = fakeNow();
    return this.#calls.filter(
      (call) =>
        call.token === token && (call.state === "sent" || call.state === "dropped") && call.endsAt + slackMs > now,
    );
  }

  async #release(call: ModelCall): Promise<void> {
    const token = this.#known(call.token);
    if (token.probe === call) token.probe = undefined;
    if (call.state === "sent") call.state = "over";
    clearTimeout(call.timer);
    call.permit.release();
    await settle();
    this.rest();
  }

  #known(name: string): Token {
    const fresh = {
      pausedUntil: 0,
      pauses: 0,
      mustProbe: false,
      probe: undefined,
      left: undefined,
      pace: UNPACED,
      sentAt: 0,
    };
    const known: Token = this.#tokens.get(name) ?? fresh;
    this.#tokens.set(name, known);
    return known;
  }
}

function isStalled({ heldSince }: ModelCall, slackMs = 0): boolean {
  return fakeNow() - heldSince >= STALLED_AFTER_MS + slackMs;
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
