import { type PageEvent, type PageFault, type PageRequest, type PageWorld, SHOWN_REQUESTS } from "../events.ts";
import { kindOf, Tally } from "../tally.ts";
import type { Place } from "./address.ts";

/** A clock that differs by more was set anew. Less is the time that an event was on its way. */
const CLOCK_MS = 1_000;

export type Snapshot = Extract<PageEvent, { readonly type: "snapshot" }>;

/** All that the page knows of the emulator: a snapshot, and what has come since. */
export class Store {
  snapshot: Snapshot | undefined;
  requests = new Map<string, PageRequest>();
  tally = new Tally();
  world: PageWorld | undefined;
  faults: readonly PageFault[] = [];
  /** The clock of the emulator less that of this browser. */
  aheadMs = 0;

  take(event: PageEvent, clock: number): void {
    switch (event.type) {
      case "snapshot":
        this.snapshot = event;
        this.requests = new Map(event.requests.map((request) => [request.id, request]));
        this.tally = new Tally(event);
        this.world = event.world;
        this.faults = event.faults;
        this.aheadMs = event.now - clock;
        return;
      case "request":
        this.#keep(event.request);
        if (Math.abs(event.request.at - clock - this.aheadMs) > CLOCK_MS) this.aheadMs = event.request.at - clock;
        return;
      case "response":
        this.#keep(event.request);
        this.tally.count(event.request.at, event.request);
        return;
      case "pause":
        this.tally.pause(event);
        return;
      case "world":
        this.world = event.world;
        return;
      case "fault":
        this.faults = event.faults;
    }
  }

  #keep(request: PageRequest): void {
    this.requests.set(request.id, request);
    const [oldest] = this.requests.keys();
    if (this.requests.size > SHOWN_REQUESTS && oldest !== undefined) this.requests.delete(oldest);
  }
}

/** Requests that pass the filter, newest first. Each word of the text has to be somewhere in the row. */
export function filtered(requests: Iterable<PageRequest>, { failed, text }: Place): readonly PageRequest[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const isShown = (request: PageRequest): boolean => {
    const kind = kindOf(request);
    if (failed && (kind === "accepted" || kind === undefined)) return false;
    if (words.length === 0) return true;
    const { id, method, url, status, code, operation, token, why, outcome, fate } = request;
    const row = [
      id,
      method,
      url,
      status,
      code,
      operation,
      token?.name,
      token?.id,
      why,
      outcome,
      fate.replaceAll("_", " "),
    ];
    const told = row.join("\n").toLowerCase();
    return words.every((word) => told.includes(word));
  };
  return Array.from(requests).filter(isShown).reverse();
}
