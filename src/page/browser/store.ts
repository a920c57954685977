import { type PageEvent, type PageFault, type PageRequest, type PageWorld, SHOWN_REQUESTS } from "../events.ts";
import { type Filter, filterOf, parseFilter } from "../place.ts";
import { Tally } from "../tally.ts";

/** A clock that differs by more was set anew. Less is the time that an event was on its way. */
const CLOCK_MS = 1_000;

export type Snapshot = Extract<PageEvent, { readonly type: "snapshot" }>;

/** All that the page knows of the emulator: a snapshot, and what has come since. */
export class Store {
  snapshot: Snapshot | undefined;
  /** The last requests that pass the filter. */
  requests = new Map<string, PageRequest>();
  /** Requests that the emulator has had in this world. */
  total = 0;
  tally = new Tally();
  world: PageWorld | undefined;
  faults: readonly PageFault[] = [];
  /** The clock of the emulator less that of this browser. */
  aheadMs = 0;
  #passes = filterOf(parseFilter(""));

  take(event: PageEvent, clock: number): void {
    if (event.type === "snapshot") {
      this.snapshot = event;
      this.requests.clear();
      this.total = 0;
      for (const request of event.requests) this.#keep(request);
      this.tally = new Tally(event);
      this.world = event.world;
      this.faults = event.faults;
      this.aheadMs = event.now - clock;
    } else if (event.type === "pause") this.tally.pause(event);
    else if (event.type === "world") this.world = event.world;
    else if (event.type === "fault") this.faults = event.faults;
    else {
      const { request } = event;
      this.#keep(request);
      if (event.type === "response") this.tally.count(request.at, request);
      else if (Math.abs(request.at - clock - this.aheadMs) > CLOCK_MS) this.aheadMs = request.at - clock;
    }
  }

  /** Filters the requests that are here, and those that the emulator has found. */
  filter(filter: Filter, found: readonly PageRequest[] = []): void {
    this.#passes = filterOf(filter);
    const all = new Map([...found, ...this.requests.values()].map((request) => [request.id, request]));
    this.requests.clear();
    for (const request of all.values()) this.#keep(request);
  }

  #keep(request: PageRequest): void {
    this.total = Math.max(this.total, request.index + 1);
    if (this.#passes(request)) this.requests.set(request.id, request);
    else this.requests.delete(request.id);
    if (this.requests.size <= SHOWN_REQUESTS) return;
    const oldest = [...this.requests.values()].reduce((one, other) => (other.index < one.index ? other : one));
    this.requests.delete(oldest.id);
  }
}
