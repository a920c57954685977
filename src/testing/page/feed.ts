import { isRecord } from "../../core/checks/values.ts";
import { parseJson } from "../../core/wire/json.ts";
import type { AssembledEmulator } from "../emulator.ts";
import type { OutgoingResponse } from "../exchange.ts";
import type { RecordedRequest } from "../request-log.ts";
import type { State } from "../state.ts";
import type { PageEvent, PageFault, PageRequest, PageWorld } from "./events.ts";
import { fateOf, whyOf } from "./fate.ts";
import type { Watcher } from "./watched-core.ts";
import { waitingFaults, worldOf } from "./world.ts";

/** Requests that a snapshot holds. */
const KEPT = 500;
/** Between two looks at the state, while a listener is there. */
const LOOK_MS = 250;

/** The emulator that a feed tells of. */
export type FeedSource = Pick<AssembledEmulator, "emulator" | "state" | "now">;

/** Tells of an emulator as it happens: a snapshot, then each change. Holds a timer only while a listener is there. */
export class Feed implements Watcher {
  readonly #source: FeedSource;
  readonly #listeners = new Set<(event: PageEvent) => void>();
  #requests = new Map<number, PageRequest>();
  #state: State;
  #seen: { readonly world: string; readonly faults: string } = { world: "", faults: "" };
  #timer: NodeJS.Timeout | undefined;

  constructor(source: FeedSource) {
    this.#source = source;
    this.#state = source.state();
  }

  /** Calls `listener` with a snapshot, then with each change, until the function that it returns is called. */
  listen(listener: (event: PageEvent) => void): () => void {
    this.#look();
    this.#listeners.add(listener);
    listener(this.#snapshot());
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  readonly arrived = (request: RecordedRequest): void => {
    this.#followReset();
    const row = this.#rowOf(request, undefined);
    this.#requests.set(request.index, row);
    if (this.#requests.size > KEPT) this.#requests.delete(this.#requests.keys().next().value ?? 0);
    this.#tell({ v: 1, type: "request", request: row });
  };

  readonly ended = (request: RecordedRequest, response: OutgoingResponse): void => {
    // A request of the world before a reset ends in it.
    if (this.#requests.get(request.index)?.at !== request.at) return;
    const row = this.#rowOf(request, response);
    this.#requests.set(request.index, row);
    this.#tell({ v: 1, type: "response", request: row });
    const seconds = Number(response.headers.get("retry-after") ?? "x");
    if (row.status === undefined || Number.isNaN(seconds)) return;
    const { token, id, endedAt: from = request.at } = row;
    this.#tell({ v: 1, type: "pause", request: id, token, from, until: from + seconds * 1000 });
  };

  #rowOf(request: RecordedRequest, response: OutgoingResponse | undefined): PageRequest {
    const { at, endedAt, method, url, status, code, outcome, faulty, operation, requestId: id } = request;
    const token = request.token === undefined ? undefined : this.#state.tokens.byKeyId.get(request.token);
    const content = response?.body === undefined || (status ?? 0) < 400 ? undefined : parseBytes(response.body);
    const window = token && this.#state.limiter.windowOf(token.id, at);
    const why = whyOf(request, { content, scopes: token?.scopes, window });
    const shownToken = token && { id: token.id, name: token.name };
    const fate = fateOf(request);
    return { id, at, endedAt, method, url, operation, token: shownToken, status, code, outcome, faulty, fate, why };
  }

  #snapshot(): PageEvent {
    const { emulator, now } = this.#source;
    const { limiter } = this.#state;
    return {
      v: 1,
      type: "snapshot",
      now: now(),
      baseUrl: emulator.baseUrl,
      limit: Number.isFinite(limiter.limit) ? limiter.limit : null,
      windowMs: limiter.windowMs,
      world: this.#world(),
      faults: this.#faults(),
      requests: [...this.#requests.values()],
    };
  }

  #world(): PageWorld {
    return worldOf(this.#source.emulator, this.#state.limiter, this.#source.now());
  }

  #faults(): readonly PageFault[] {
    return waitingFaults(this.#state.faults.all());
  }

  /** Tells what has changed in the state, which programs change directly as well. */
  #look(): void {
    this.#followReset();
    const [world, faults] = [this.#world(), this.#faults()];
    const seen = { world: JSON.stringify(world), faults: JSON.stringify(faults) };
    const before = this.#seen;
    this.#seen = seen;
    if (seen.world !== before.world) this.#tell({ v: 1, type: "world", world });
    if (seen.faults !== before.faults) this.#tell({ v: 1, type: "fault", faults });
  }

  #followReset(): void {
    const state = this.#source.state();
    if (state === this.#state) return;
    this.#state = state;
    this.#requests = new Map();
    this.#tell(this.#snapshot());
  }

  #tell(event: PageEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

function parseBytes(bytes: Uint8Array): unknown {
  try {
    const parsed = parseJson(new TextDecoder().decode(bytes));
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined; // a fault may send anything
  }
}
