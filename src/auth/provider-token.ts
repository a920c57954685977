import { flawOfToken } from "./token-format.ts";
import { TokenListeners } from "./token-listeners.ts";
import type { TokenListener, TokenProvider, TokenSource } from "./token-source.ts";

interface Flight {
  readonly controller: AbortController;
  readonly token: Promise<string>;
  waiting: number;
}

/**
 * A token that a function of the caller's gives, asked at each attempt. Calls that ask at the same time share one
 * flight; a call that was refused never shares one that did not know of the refusal. Nothing is kept once it settled.
 */
export class ProviderToken implements TokenSource {
  readonly #provider: TokenProvider;
  /** By the token that the provider was told of; `undefined` for none. */
  readonly #flights = new Map<string | undefined, Flight>();
  readonly #dependents = new TokenListeners();
  #latest = "";
  /** Flights are numbered: one that comes late does not bring an older token back. */
  #flown = 0;
  #latestFlight = 0;

  constructor(provider: TokenProvider) {
    this.#provider = provider;
  }

  get current(): string {
    return this.#latest;
  }

  /** Rejects with whatever the provider throws. What it gives is not checked here. */
  async read(signal: AbortSignal, rejected: string | undefined): Promise<string> {
    // If another call has had a new token since, the provider need not replace that one too.
    const known = rejected === this.#latest ? rejected : undefined;
    const flight = this.#flights.get(known) ?? this.#start(known);
    flight.waiting += 1;
    const leave = (): void => {
      flight.waiting -= 1;
      if (flight.waiting > 0) return;
      // Whoever asks next must not be given a flight that nobody believes in any more.
      if (this.#flights.get(known) === flight) this.#flights.delete(known);
      flight.controller.abort();
    };
    signal.addEventListener("abort", leave);
    try {
      return await flight.token;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  canReplace(): boolean {
    return true;
  }

  async settled(): Promise<void> {}

  subscribe(dependent: TokenListener): void {
    this.#dependents.add(dependent);
  }

  #start(rejected: string | undefined): Flight {
    const controller = new AbortController();
    const token = this.#ask(controller.signal, rejected);
    const flight = { controller, token, waiting: 0 };
    this.#flights.set(rejected, flight);
    const settle = (): void => {
      if (this.#flights.get(rejected) === flight) this.#flights.delete(rejected);
    };
    token.then(settle, settle);
    return flight;
  }

  async #ask(signal: AbortSignal, rejected: string | undefined): Promise<string> {
    this.#flown += 1;
    const flight = this.#flown;
    const token = await this.#provider(rejected === undefined ? { signal } : { signal, rejected });
    if (flight < this.#latestFlight) return token;
    this.#latestFlight = flight;
    if (token !== this.#latest && flawOfToken(token) === undefined) {
      this.#latest = token;
      this.#dependents.refresh();
    }
    return token;
  }
}
