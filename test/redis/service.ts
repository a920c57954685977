/**
 * A service that allows so many requests a window, with a log of what it was asked and what it said. A window lasts until
 * it is used up, on a machine however busy, and so long from its first refusal.
 */
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Logged {
  readonly at: number;
  readonly call: string;
  readonly status: number;
  readonly window: number;
  /** Requests in flight, this one included, when it came; and what the service had last said is left. */
  readonly inFlight: number;
  readonly saidLeft: number;
  /** Until when it asked to send nothing. */
  readonly pausedUntil: number;
  endedAt: number;
}

/** What a service needs to look into what was asked. */
const WORK_MS = 4;
const PAGE = JSON.stringify({ data: [{ id: "prj_1", name: "web" }], next_cursor: null });

export class LimitedService implements AsyncDisposable {
  readonly log: Logged[] = [];
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #server: Server;
  #window = { number: 0, endsAt: 0, left: 0 };
  #inFlight = 0;
  #saidLeft = Number.POSITIVE_INFINITY;
  readonly #watchers: { readonly count: number; readonly resolve: () => void }[] = [];

  private constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#server = createServer((request, response) => this.#answer(String(request.headers["x-call"]), response));
  }

  static async start(limit: number, windowMs: number): Promise<LimitedService> {
    const service = new LimitedService(limit, windowMs);
    service.#server.listen(0, "127.0.0.1");
    await once(service.#server, "listening");
    return service;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on a port
  }

  /** Resolves when so many requests have been let through. */
  whenAccepted(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.push({ count, resolve });
      this.#tell();
    });
  }

  get accepted(): readonly Logged[] {
    return this.log.filter(({ status }) => status === 200);
  }

  get refused(): readonly Logged[] {
    return this.log.filter(({ status }) => status === 429);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #answer(call: string, response: ServerResponse): void {
    const at = performance.now();
    if (at >= this.#window.endsAt) {
      this.#window = { number: this.#window.number + 1, endsAt: Number.POSITIVE_INFINITY, left: this.#limit };
    }
    const isRefused = this.#window.left === 0;
    if (isRefused) this.#window.endsAt = Math.min(this.#window.endsAt, at + this.#windowMs);
    else this.#window.left -= 1;
    this.#inFlight += 1;
    const retryAfter = isRefused ? Math.ceil((this.#window.endsAt - at) / 1_000) : 0;
    const { left: remaining, number: window } = this.#window;
    const logged: Logged = {
      at,
      call,
      status: isRefused ? 429 : 200,
      window,
      inFlight: this.#inFlight,
      saidLeft: this.#saidLeft,
      pausedUntil: isRefused ? at + retryAfter * 1_000 : 0,
      endedAt: Number.POSITIVE_INFINITY,
    };
    this.log.push(logged);
    setTimeout(() => {
      logged.endedAt = performance.now();
      this.#inFlight -= 1;
      this.#saidLeft = remaining;
      response.writeHead(logged.status, {
        "content-type": "application/json",
        "ratelimit-limit": String(this.#limit),
        "ratelimit-remaining": String(remaining),
        ...(isRefused ? { "retry-after": String(retryAfter) } : {}),
      });
      response.end(isRefused ? JSON.stringify({ error: "too_many_requests" }) : PAGE);
      this.#tell();
    }, WORK_MS);
  }

  #tell(): void {
    const ended = this.accepted.filter(({ endedAt }) => endedAt < Number.POSITIVE_INFINITY).length;
    for (const { resolve } of this.#watchers.filter(({ count }) => ended >= count)) resolve();
  }
}
