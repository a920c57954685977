import type { Core } from "./exchange.ts";
import type { Fault, FaultHandle } from "./faults.ts";
import { createFetch } from "./fetch.ts";
import type { EmulatorOptions } from "./options.ts";
import { checkRateLimit, resolveOptions } from "./options.ts";
import { randomPerRun } from "./random.ts";
import type { RateLimit } from "./rate-limit.ts";
import { RateLimiter } from "./rate-limit.ts";
import type { LogEntry, RecordedRequest } from "./request-log.ts";
import { Service } from "./service.ts";
import type { EmulatorTables } from "./tables.ts";
import { createTables } from "./tables.ts";
import { createWorld } from "./world.ts";

/** The whole service in memory. Its functions work detached; it holds no timer and needs no closing. */
export interface Emulator extends EmulatorTables {
  /** For `new Client({ baseUrl })`. */
  readonly baseUrl: string;
  /** A token with every scope, of the owner `"owner"`. It stays the same through `reset()`. */
  readonly token: string;
  /** For `new Client({ fetch })`. Reaches the emulator and nothing else, whatever the URL. */
  readonly fetch: typeof globalThis.fetch;
  /** The requests since the last `reset()`, oldest first. Always the same array: it grows, and its entries fill in. */
  readonly requests: readonly RecordedRequest[];
  /** Puts a fault in force until it is used up, removed, or `reset()`. */
  fault(fault: Fault): FaultHandle;
  /** Replaces the rate limit, and opens a new window for every token; until `reset()`. */
  setRateLimit(rateLimit: RateLimit | false): void;
  /** Back to the state that the options describe: rows, tokens, owners, rate limit; no faults, an empty log. */
  reset(): void;
}

/** An emulator together with the core that transports other than `fetch` drive. */
export interface AssembledEmulator {
  readonly emulator: Emulator;
  readonly core: Core;
}

/**
 * Creates the service in memory: synchronous, without any network or timer. Emulators share nothing. Throws a `TypeError`
 * for an option that is unknown, of the wrong type or out of range.
 *
 * @example
 * const emulator = createEmulator({ projects: [{ name: "web" }] });
 * const client = new Client({ baseUrl: emulator.baseUrl, token: emulator.token, fetch: emulator.fetch });
 */
export function createEmulator(options?: EmulatorOptions): Emulator {
  return assembleEmulator(options).emulator;
}

/** As {@link createEmulator}, for adapters. */
export function assembleEmulator(given?: EmulatorOptions): AssembledEmulator {
  const options = resolveOptions(given);
  const requests: LogEntry[] = [];
  const source = { options, requests, randomPerRun: randomPerRun(options.random) };
  const service = new Service(options, createWorld(source));
  const emulator: Emulator = {
    baseUrl: options.baseUrl,
    token: service.world.token,
    fetch: createFetch({ core: service, origin: new URL(options.baseUrl).origin }),
    requests,
    fault: (fault) => service.world.faults.add(fault),
    setRateLimit: (rateLimit) => {
      service.world.limiter = new RateLimiter(checkRateLimit("rateLimit", rateLimit));
    },
    reset: () => {
      requests.length = 0;
      service.enter(createWorld(source));
    },
    ...createTables(() => service.world, options),
  };
  return { emulator, core: service };
}
