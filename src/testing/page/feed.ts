import type { AssembledEmulator } from "../emulator.ts";
import type { OutgoingResponse } from "../exchange.ts";
import type { RecordedRequest } from "../request-log.ts";
import type { State } from "../state.ts";
import type { PageEvent, PageFault, PageWorld, Pause } from "./events.ts";
import { fateOf } from "./fate.ts";
import { type Context, type KeptRequest, RecentRequests, rowOf, shownToken } from "./recent-requests.ts";
import { Tally } from "./tally.ts";
import type { Watcher } from "./watched-core.ts";
import { withoutTokens } from "./without-tokens.ts";
import { waitingFaults, worldOf } from "./world.ts";

/** Between two looks at the state, while a listener is there. */
const LOOK_MS = 250;

/** The emulator that a feed tells of. */
export type FeedSource = Pick<AssembledEmulator, "emulator" | "state" | "options">;

/** A value of the stream as JSON, without tokens. */
export interface Told {
  readonly type: PageEvent["type"];
  readonly json: string;
}

/**
 * Tells of an emulator as it happens: a snapshot, then each change. While nobody listens it notes requests, and makes no text
 * and holds no timer.
 */
export class Feed implements Watcher {
  readonly #source: FeedSource;
  readonly #listeners = new Set<(told: Told) => void>();
  readonly #mask: (text: string) => string;
  #state: State;
  #limiter: State["limiter"];
  readonly #underWay = new Map<RecordedRequest, Context>();
  #requests: RecentRequests;
  #tally = new Tally();
  #seen: { readonly world: string; readonly faults: string } = { world: "", faults: "" };
  #timer: NodeJS.Timeout | undefined;

  constructor(source: FeedSource) {
    this.#source = source;
    this.#state = source.state();
    this.#limiter = this.#state.limiter;
    this.#mask = withoutTokens(source.emulator.token);
    this.#requests = new RecentRequests(source.options.logBytes);
  }

  /** Calls `listener` with a snapshot, then with each change, until the function that it returns is called. */
  listen(listener: (told: Told) => void): () => void {
    this.#look();
    this.#listeners.add(listener);
    listener(this.#textOf(this.#snapshot()));
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  readonly arrived = (entry: RecordedRequest): void => {
    this.#follow();
    const context = this.#contextOf(entry);
    this.#underWay.set(entry, context);
    this.#tellRequest("request", this.#requests.keep(entry, context));
  };

  readonly ended = (entry: RecordedRequest, response: OutgoingResponse): void => {
    const context = this.#underWay.get(entry);
    if (context === undefined) return; // a request of the world before a reset ends in that
    this.#underWay.delete(entry);
    this.#tellRequest("response", this.#requests.keep(entry, context, response));
    const { at, endedAt: from = at, status, requestId: request } = entry;
    this.#tally.count({ at, status, fate: fateOf(entry) });
    const waitMs = status === undefined ? undefined : waitOf(response.headers);
    if (waitMs === undefined) return;
    const pause: Pause = { token: shownToken(context.token), from, until: from + waitMs };
    this.#tally.pause(pause);
    this.#tell(() => ({ v: 1, type: "pause", request, ...pause }));
  };

  #contextOf({ token: keyId, status, at }: RecordedRequest): Context {
    const token = keyId === undefined ? undefined : this.#state.tokens.byKeyId.get(keyId);
    return { token, window: token && status === 429 ? this.#state.limiter.windowOf(token.id, at) : undefined };
  }

  #snapshot(): PageEvent {
    const { emulator, options } = this.#source;
    const { limit, windowMs } = this.#limiter;
    const now = options.now();
    return {
      v: 1,
      type: "snapshot",
      now,
      baseUrl: emulator.baseUrl,
      limit: Number.isFinite(limit) ? limit : null,
      windowMs,
      world: this.#world(),
      faults: this.#faults(),
      counts: { ...this.#tally.counts },
      steps: this.#tally.steps(now),
      pauses: this.#tally.pauses(now),
      requests: this.#requests.rows(),
    };
  }

  #world(): PageWorld {
    return worldOf(this.#state, this.#source.options.now());
  }

  #faults(): readonly PageFault[] {
    return waitingFaults(this.#state.faults.all());
  }

  /** Tells what has changed in the state, which programs change directly as well. */
  #look(): void {
    this.#follow();
    const [world, faults] = [this.#world(), this.#faults()];
    const seen = { world: JSON.stringify(world), faults: JSON.stringify(faults) };
    const before = this.#seen;
    this.#seen = seen;
    if (seen.world !== before.world) this.#tell(() => ({ v: 1, type: "world", world }));
    if (seen.faults !== before.faults) this.#tell(() => ({ v: 1, type: "fault", faults }));
  }

  /** Begins anew with a new world, and tells a new rate limit. */
  #follow(): void {
    const state = this.#source.state();
    if (state === this.#state && state.limiter === this.#limiter) return;
    if (state !== this.#state) {
      this.#requests = new RecentRequests(this.#source.options.logBytes);
      this.#tally = new Tally();
      this.#underWay.clear();
    }
    this.#state = state;
    this.#limiter = state.limiter;
    this.#tell(() => this.#snapshot());
  }

  #tellRequest(type: "request" | "response", kept: KeptRequest): void {
    this.#tell(() => ({ v: 1, type, request: rowOf(kept) }));
  }

  #tell(make: () => PageEvent): void {
    if (this.#listeners.size === 0) return;
    const told = this.#textOf(make());
    for (const listener of this.#listeners) listener(told);
  }

  #textOf(event: PageEvent): Told {
    return { type: event.type, json: this.#mask(JSON.stringify(event)) };
  }
}

/** The milliseconds that a response tells its client to wait; `undefined` if it tells none. */
function waitOf(headers: Headers): number | undefined {
  const field = headers.get("retry-after");
  if (field === null) return undefined;
  const waitMs = /^\d+$/.test(field) ? Number(field) * 1000 : Date.parse(field) - Date.parse(headers.get("date") ?? "");
  return waitMs >= 0 ? waitMs : undefined; // a fault may send anything
}
