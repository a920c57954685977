import { parseRetryAfter } from "../core/wire/retry-after.ts";
import type { AssembledEmulator } from "../emulator/emulator.ts";
import type { RecordedRequest, Watcher } from "../emulator/request-log.ts";
import type { Unsettled } from "../emulator/response.ts";
import type { State } from "../emulator/state.ts";
import type { TokenRow } from "../emulator/token-tables.ts";
import { type PageEvent, type PageList, type PageRequest, type Pause, SHOWN_REQUESTS } from "./events.ts";
import { fateOf } from "./fate.ts";
import { type Filter, filterOf, parseFilter } from "./place.ts";
import { Responses } from "./responses.ts";
import { endedRow, exchangeOf, pendingRow, rowOf, tokenIn, tokenOf } from "./rows.ts";
import { Tally } from "./tally.ts";
import { withoutTokens } from "./without-tokens.ts";
import { waitingFaults, worldOf } from "./world.ts";

/** Between two looks at the state, while a listener is there. */
const LOOK_MS = 250;
/** Events within this time are sent together, which costs less than one by one. */
const GATHER_MS = 100;

type FeedSource = Pick<AssembledEmulator, "emulator" | "state" | "options">;

export interface Told {
  readonly type: PageEvent["type"];
  readonly json: string;
}

type Listener = (told: readonly Told[]) => void;

/**
 * Tells of an emulator as it happens: a snapshot, then each change. Without a listener it counts requests, keeps responses
 * that are errors and no others, and holds no timer.
 */
export class Feed {
  readonly #source: FeedSource;
  readonly #listeners = new Set<Listener>();
  readonly #mask: (text: string) => string;
  #state: State;
  #limiter: State["limiter"];
  #responses = new Responses();
  #tally = new Tally();
  #seen: { readonly world: string; readonly faults: string } = { world: "", faults: "" };
  #gathered: (() => PageEvent)[] = [];
  #gathering: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(source: FeedSource) {
    this.#source = source;
    this.#state = source.state();
    this.#limiter = this.#state.limiter;
    this.#mask = withoutTokens(source.options.tokenPrefix);
  }

  /** Calls `listener` with a snapshot, then with each change, until the function that it returns is called. */
  listen(listener: Listener): () => void {
    this.#look();
    this.#tellGathered();
    this.#listeners.add(listener);
    listener([this.#textOf(this.#snapshot())]);
    this.#looking ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => {
      this.#tellGathered();
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#looking);
      this.#looking = undefined;
    };
  }

  /** A request and its response, as JSON without tokens; `undefined` for a request that the log does not keep. */
  exchange(id: string): string | undefined {
    this.#follow();
    const entry = this.#source.emulator.requests.filter(({ requestId }) => requestId === id).at(-1);
    if (entry === undefined) return undefined;
    return this.#mask(JSON.stringify(exchangeOf(this.#rowOf(entry), entry, this.#responses)));
  }

  /** The last requests that pass a filter, as JSON without tokens. */
  find(filter: Filter): string {
    this.#follow();
    return this.#mask(JSON.stringify({ v: 1, requests: this.#last(filter) } satisfies PageList));
  }

  readonly watch: Watcher = (entry, response) => {
    this.#follow();
    const world = this.#state;
    this.#gatherRequest(entry, tokenIn(world.tokens, entry));
    return () => {
      // A request of the world before a reset ends in that.
      if (world === this.#state) this.#ended(entry, response);
    };
  };

  #ended(entry: RecordedRequest, response: Unsettled): void {
    const { at, endedAt: from = at, status = 0, requestId: request } = entry;
    this.#tally.count(at, { fate: fateOf(entry), status });
    const isError = status >= 400;
    if (!isError && this.#listeners.size === 0) return;
    const token = tokenIn(this.#state.tokens, entry);
    const window = token && status === 429 ? this.#limiter.windowOf(token.id, at) : undefined;
    this.#responses.add(entry, response, window);
    this.#gather(() => ({ v: 1, type: "response", request: endedRow(entry, token, this.#responses.get(entry)) }));
    const { headers } = response;
    const waitMs = isError ? parseRetryAfter(headers.get("retry-after"), headers.get("date"), from) : undefined;
    if (waitMs === undefined) return;
    const pause: Pause = { token: tokenOf(token), from, until: from + waitMs };
    this.#tally.pause(pause);
    this.#gather(() => ({ v: 1, type: "pause", request, ...pause }));
  }

  #rowOf(entry: RecordedRequest): PageRequest {
    return rowOf(entry, this.#state.tokens, this.#responses.get(entry));
  }

  /** Oldest first. The filter reads masked rows: it never tells whether a token has certain letters. */
  #last(filter: Filter): readonly PageRequest[] {
    const passes = filterOf(filter, this.#mask);
    const found: PageRequest[] = [];
    for (const entry of [...this.#source.emulator.requests].reverse()) {
      const row = this.#rowOf(entry);
      if (passes(row) && found.push(row) === SHOWN_REQUESTS) break;
    }
    return found.reverse();
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
      world: worldOf(this.#state, now),
      faults: waitingFaults(this.#state.faults.all()),
      counts: { ...this.#tally.counts },
      steps: this.#tally.steps(now),
      pauses: this.#tally.pauses(now),
      requests: this.#last(parseFilter("")),
    };
  }

  /** Tells what has changed in the state, which programs change directly as well. */
  #look(): void {
    this.#follow();
    const world = worldOf(this.#state, this.#source.options.now());
    const faults = waitingFaults(this.#state.faults.all());
    const seen = { world: JSON.stringify(world), faults: JSON.stringify(faults) };
    const before = this.#seen;
    this.#seen = seen;
    if (seen.world !== before.world) this.#gather(() => ({ v: 1, type: "world", world }));
    if (seen.faults !== before.faults) this.#gather(() => ({ v: 1, type: "fault", faults }));
  }

  /** Begins anew with a new world, and tells a new rate limit. */
  #follow(): void {
    const state = this.#source.state();
    if (state === this.#state && state.limiter === this.#limiter) return;
    this.#tellGathered();
    if (state !== this.#state) {
      this.#responses = new Responses();
      this.#tally = new Tally();
    }
    this.#state = state;
    this.#limiter = state.limiter;
    this.#tell([() => this.#snapshot()]);
  }

  /** A separate function: a closure beside the response would keep the response in memory. */
  #gatherRequest(entry: RecordedRequest, token: TokenRow | undefined): void {
    this.#gather(() => ({ v: 1, type: "request", request: pendingRow(entry, token) }));
  }

  #gather(make: () => PageEvent): void {
    if (this.#listeners.size === 0) return;
    this.#gathered.push(make);
    this.#gathering ??= setTimeout(() => this.#tellGathered(), GATHER_MS).unref();
  }

  #tellGathered(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#tell(this.#gathered.splice(0));
  }

  #tell(events: readonly (() => PageEvent)[]): void {
    if (this.#listeners.size === 0 || events.length === 0) return;
    const told = events.map((make) => this.#textOf(make()));
    for (const listener of this.#listeners) listener(told);
  }

  #textOf(event: PageEvent): Told {
    return { type: event.type, json: this.#mask(JSON.stringify(event)) };
  }
}
