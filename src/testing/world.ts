import { SCOPES } from "../scopes.ts";
import { Cursors } from "./cursor.ts";
import { Faults } from "./faults.ts";
import type { ResolvedOptions } from "./options.ts";
import type { RandomPerRun } from "./random.ts";
import { Identifiers } from "./random.ts";
import { RateLimiter } from "./rate-limit.ts";
import type { LogEntry } from "./request-log.ts";
import { RequestLog } from "./request-log.ts";
import { Store } from "./store.ts";
import { DEFAULT_OWNER, Tokens } from "./tokens.ts";

/** All state of an emulator from one `reset()` to the next. */
export interface World {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly cursors: Cursors;
  readonly faults: Faults;
  readonly log: RequestLog;
  /** The plaintext of the token with full access. */
  readonly token: string;
  limiter: RateLimiter;
}

const TEN_YEARS_MS = 3650 * 24 * 60 * 60 * 1000;

/** What a world is built from. */
export interface WorldSource {
  readonly options: ResolvedOptions;
  readonly randomPerRun: RandomPerRun;
  /** Where its requests are logged. */
  readonly requests: LogEntry[];
}

/** Builds the state that the options describe. */
export function createWorld({ options, randomPerRun, requests }: WorldSource): World {
  const { random, seeded } = randomPerRun();
  const ids = new Identifiers(random);
  const cursors = new Cursors(ids.characters(16));
  const tokens = new Tokens(ids, options.tokenPrefix);
  tokens.createOwner(DEFAULT_OWNER, options.permissions);
  const spec = { name: "emulator", scopes: SCOPES, owner: DEFAULT_OWNER, lifetimeMs: TEN_YEARS_MS };
  const { plaintext } = tokens.create(spec, options.now());
  const store = new Store(ids, options.conventions);
  seedProjects(store, options);
  seeded();
  return {
    store,
    tokens,
    cursors,
    faults: new Faults(),
    log: new RequestLog(requests, options.logLimit),
    token: plaintext,
    limiter: new RateLimiter(options.rateLimit),
  };
}

function seedProjects(store: Store, options: ResolvedOptions): void {
  for (const { id, name, sessions, issues } of options.projects) {
    const project = store.createProject({ id, name });
    const seeds = sessions ?? Array.from({ length: options.sessionsPerProject }, () => ({}));
    for (const seed of seeds) store.createSession(project.id, seed);
    for (const seed of issues ?? []) store.createIssue(project.id, seed);
  }
}
