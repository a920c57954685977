import { knownTokens } from "../core/token/known-tokens.ts";
import { atCaller } from "./checks.ts";
import type { Fault, FaultHandle } from "./faults.ts";
import { createFetch } from "./fetch.ts";
import { type EmulatorOptions, parseRateLimit, type ResolvedOptions, resolveOptions } from "./options.ts";
import { IssueTable, ProjectTable, SessionTable } from "./project-tables.ts";
import { type RandomSource, repeatableRandom } from "./random.ts";
import { type RateLimit, RateLimiter } from "./rate-limit.ts";
import type { LogEntry, RecordedRequest } from "./request-log.ts";
import type { EmulatorRoute } from "./routes.ts";
import { Service } from "./service.ts";
import { createState, type State } from "./state.ts";
import type { CreatedEmulatorToken, EmulatorToken, TokenInput } from "./tables.ts";
import { createToken, leak, OwnerTable, TokenTable } from "./token-tables.ts";

/** Options by which a `Client` reaches the emulator. */
export interface ClientConnection {
  /** For `new Client({ baseUrl })`. */
  readonly baseUrl: string;
  /** A token with every scope, of the owner `"owner"`. It stays the same through `reset()`. */
  readonly token: string;
  /** For `new Client({ fetch })`. Reaches the emulator and nothing else, whatever the URL. */
  readonly fetch: typeof globalThis.fetch;
}

/** The state of an emulator, to look at and to change. Takes effect at once, needs no token, and is not in the log. */
export interface EmulatorTables {
  /** Projects. */
  readonly projects: ProjectTable;
  /** Issues of projects. */
  readonly issues: IssueTable;
  /** Sessions, and their states. */
  readonly sessions: SessionTable;
  /** Records of tokens; `createToken` makes one. */
  readonly tokens: TokenTable;
  /** Owners of tokens, and what they may do. */
  readonly owners: OwnerTable;
}

/** The whole service in memory. Its functions work detached; it holds no timer and needs no closing. */
export interface Emulator extends EmulatorTables, ClientConnection {
  /** `baseUrl`, `token` and `fetch`, to be spread into `new Client`. */
  readonly clientOptions: ClientConnection;
  /**
   * The requests since the last `reset()`, oldest first, at most `logLimit`. Always the same array: it grows, and
   * its entries fill in.
   */
  readonly requests: readonly RecordedRequest[];
  /** Creates a token. Over the wire, its creator would have to hold its scopes. */
  createToken(token: TokenInput): CreatedEmulatorToken;
  /** Secret scanning: revokes every token whose plaintext is in `text`, and returns their masked records. */
  leak(text: string): EmulatorToken[];
  /** Puts a fault in force until it is used up, removed, or `reset()`. Throws a `TypeError` if the fault is invalid. */
  fault(fault: Fault): FaultHandle;
  /**
   * Adds an endpoint of your own, behind the same tokens, scopes, rate limit, faults and log, and in front of those with the
   * same path; `reset()` leaves it. Throws a `TypeError` if the route is invalid.
   *
   * @example
   * emulator.route({
   *   method: "GET",
   *   path: "/projects/{project}/labels",
   *   scope: "projects:read",
   *   handle: ({ params }) => ({ body: { project: params["project"], labels: ["bug"] } }),
   * });
   */
  route(route: EmulatorRoute): void;
  /** Replaces the rate limit, and opens a new window for every token; until `reset()`. */
  setRateLimit(rateLimit: RateLimit | false): void;
  /** Back to the state that the options describe: rows, tokens, owners, rate limit; no faults, an empty log. */
  reset(): void;
}

/** An emulator together with the core that transports other than `fetch` drive. */
export interface AssembledEmulator {
  readonly emulator: Emulator;
  readonly core: Service;
  readonly state: () => State;
  readonly options: ResolvedOptions;
}

/**
 * Creates the service in memory: synchronous, without any network or timer. Emulators share nothing: each has a world of
 * its own, and refuses the tokens and cursors of the others. The first emulators of a program have the same in every run.
 *
 * @throws `TypeError` for an option that is unknown, of the wrong type or out of range
 *
 * @example
 * const emulator = createEmulator({ projects: [{ name: "web" }] });
 * const client = new Client(emulator.clientOptions);
 */
export function createEmulator(options?: EmulatorOptions): Emulator {
  const resolved = atCaller(createEmulator, () => resolveOptions(options));
  return assembleEmulator(resolved, repeatableRandom(resolved.random)).emulator;
}

export function assembleEmulator(options: ResolvedOptions, random: RandomSource): AssembledEmulator {
  const { baseUrl, conventions, now, sessionStates } = options;
  const requests: LogEntry[] = [];
  const source = { options, requests, random };
  let current = createState(source);
  const state = (): State => current;
  const projectSource = {
    state,
    issueStatus: conventions.issueStatus,
    sessionState: conventions.sessionState,
    sessionStates,
  };
  const tokenSource = { state, now, lifetimeDays: conventions.tokenLifetimeDays };
  const tables: EmulatorTables = {
    projects: new ProjectTable(projectSource),
    issues: new IssueTable(projectSource),
    sessions: new SessionTable(projectSource),
    tokens: new TokenTable(tokenSource),
    owners: new OwnerTable(tokenSource),
  };
  seedProjects(tables, options);
  const core = new Service({ options, state, tables });
  const fetch = createFetch({ core, origin: new URL(baseUrl).origin });
  const connection = { baseUrl, token: current.token, fetch };
  const make: Emulator["createToken"] = (token) => atCaller(make, () => createToken(tokenSource, token));
  const fault: Emulator["fault"] = (given) => atCaller(fault, () => current.faults.add(given));
  const route: Emulator["route"] = (given) => atCaller(route, () => core.add(given));
  const emulator: Emulator = {
    ...connection,
    ...tables,
    clientOptions: connection,
    requests,
    createToken: make,
    leak: (text) => leak(tokenSource, text),
    fault,
    route,
    setRateLimit: (rateLimit) => {
      current.limiter = new RateLimiter(parseRateLimit(rateLimit));
    },
    reset: () => {
      knownTokens().forget();
      requests.length = 0;
      current = createState(source);
      seedProjects(tables, options);
    },
  };
  return { emulator, core, state, options };
}

function seedProjects({ projects, sessions, issues }: EmulatorTables, options: ResolvedOptions): void {
  for (const seed of options.projects) {
    const { id } = projects.create({ id: seed.id, name: seed.name });
    const made = seed.sessions ?? Array.from({ length: options.sessionsPerProject }, () => ({}));
    for (const session of made) sessions.create(id, session);
    for (const issue of seed.issues ?? []) issues.create(id, issue);
  }
}
