import { SCOPES } from "../service/scopes.ts";
import { Cursors } from "./cursor.ts";
import { Faults } from "./faults.ts";
import type { ResolvedOptions } from "./options.ts";
import { ProjectStore } from "./project-tables.ts";
import { idsFrom, type MakeId, type RandomSource } from "./random.ts";
import { RateLimiter } from "./rate-limit.ts";
import { type LogEntry, RequestLog } from "./request-log.ts";
import { DAY_MS, DEFAULT_OWNER, TokenStore } from "./token-tables.ts";

/** All state of an emulator from one `reset()` to the next. */
export interface State {
  readonly makeId: MakeId;
  readonly store: ProjectStore;
  readonly tokens: TokenStore;
  readonly cursors: Cursors;
  readonly faults: Faults;
  readonly log: RequestLog;
  /** The plaintext of the token with full access. */
  readonly token: string;
  limiter: RateLimiter;
}

interface StateSource {
  readonly options: ResolvedOptions;
  readonly random: RandomSource;
  readonly requests: LogEntry[];
}

/** Builds the state that the options describe, without projects yet. */
export function createState({ options, random, requests }: StateSource): State {
  const makeId = idsFrom(random.start());
  const { world } = random;
  const tokens = new TokenStore(makeId, { world, prefix: options.tokenPrefix });
  tokens.createOwner(DEFAULT_OWNER, options.permissions);
  const spec = { name: "emulator", scopes: SCOPES, owner: DEFAULT_OWNER, lifetimeMs: 3650 * DAY_MS };
  return {
    makeId,
    store: new ProjectStore(),
    tokens,
    cursors: new Cursors(world),
    faults: new Faults(),
    log: new RequestLog(requests, options.logLimit),
    token: tokens.create(spec, options.now()).plaintext,
    limiter: new RateLimiter(options.rateLimit),
  };
}
