import { SCOPES } from "../scopes.ts";
import { checkInteger, checkRecord, checkString, checkStrings } from "./checks.ts";
import type { Conventions, ResolvedConventions } from "./conventions.ts";
import { resolveConventions } from "./conventions.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { RecordedRequest } from "./request-log.ts";
import type { IssueInput, ProjectInput, SessionInput } from "./store.ts";
import type { ScopeName } from "./tokens.ts";

/** A project to begin with. What it does not say of itself, the emulator makes up. */
export interface ProjectSeed extends ProjectInput {
  /** Its sessions, in place of `sessionsPerProject` many. */
  readonly sessions?: readonly SessionInput[] | undefined;
  /** Its issues, numbered from 1. Default none. */
  readonly issues?: readonly IssueInput[] | undefined;
}

/** Options of `createEmulator`. All are optional, and all are read once: changing the object later has no effect. */
export interface EmulatorOptions {
  /** The projects to begin with, or how many. Default 3. */
  readonly projects?: number | readonly ProjectSeed[] | undefined;
  /** How many sessions each project begins with. Default 3. */
  readonly sessionsPerProject?: number | undefined;
  /** What the owner of `emulator.token` may do, whatever the scopes of a token say. Default: every scope. */
  readonly permissions?: readonly ScopeName[] | undefined;
  /** Requests per token and window; `false` for no limit. Default 600 in 60 000 ms. */
  readonly rateLimit?: RateLimit | false | undefined;
  /** The clock, in milliseconds since 1970. Default `Date.now`, looked up at each use. */
  readonly now?: (() => number) | undefined;
  /** The source of ids and tokens, numbers in [0, 1). Default: a seeded one, so that every run gives the same ids. */
  readonly random?: (() => number) | undefined;
  /** Where the service stands, up to the version segment. Default `https://emulator.invalid/api/v1`. */
  readonly baseUrl?: string | undefined;
  /** The first part of a token, before its `key_id`. Default `"emu"`. */
  readonly tokenPrefix?: string | undefined;
  /** Where the contract shows nothing and the default does not suit. */
  readonly conventions?: Conventions | undefined;
  /** How many requests the log remembers. Default: all. */
  readonly logLimit?: number | undefined;
  /** Told of each request once its answer has ended. What it throws is ignored. */
  readonly onRequest?: ((request: RecordedRequest) => void) | undefined;
}

/** {@link EmulatorOptions}, checked and copied, every gap filled. */
export interface ResolvedOptions {
  readonly projects: readonly ProjectSeed[];
  readonly sessionsPerProject: number;
  readonly permissions: readonly string[];
  readonly rateLimit: RateLimit | false;
  readonly now: () => number;
  readonly random: (() => number) | undefined;
  readonly baseUrl: string;
  readonly tokenPrefix: string;
  readonly conventions: ResolvedConventions;
  readonly logLimit: number;
  readonly onRequest: ((request: RecordedRequest) => void) | undefined;
}

/** The names of all options. */
export const OPTION_NAMES = [
  "projects",
  "sessionsPerProject",
  "permissions",
  "rateLimit",
  "now",
  "random",
  "baseUrl",
  "tokenPrefix",
  "conventions",
  "logLimit",
  "onRequest",
] as const satisfies readonly (keyof EmulatorOptions)[];

/** Checks and copies `options`; throws a `TypeError` for an unknown key, a wrong type or a value out of range. */
export function resolveOptions(options: EmulatorOptions = {}): ResolvedOptions {
  checkRecord("options", options, OPTION_NAMES);
  return {
    projects: resolveProjects(options.projects),
    sessionsPerProject: checkInteger("sessionsPerProject", options.sessionsPerProject, { min: 0, fallback: 3 }),
    permissions: checkStrings("permissions", options.permissions ?? SCOPES),
    rateLimit: checkRateLimit("rateLimit", options.rateLimit ?? { limit: 600 }),
    now: checkedClock(checkFunction("now", options.now) ?? (() => Date.now())),
    random: checkFunction("random", options.random),
    baseUrl: resolveBaseUrl(options.baseUrl ?? "https://emulator.invalid/api/v1"),
    tokenPrefix: checkTokenPrefix(options.tokenPrefix ?? "emu"),
    conventions: resolveConventions(options.conventions),
    logLimit: checkInteger("logLimit", options.logLimit, { min: 0, fallback: Infinity, infinite: true }),
    onRequest: checkFunction("onRequest", options.onRequest),
  };
}

/** A copy of a rate limit, or `false`. */
export function checkRateLimit(where: string, value: unknown): RateLimit | false {
  if (value === false) return false;
  const given = checkRecord(where, value, ["limit", "windowMs"]);
  return {
    limit: checkInteger(`${where}.limit`, given["limit"], { min: 0 }),
    windowMs: checkInteger(`${where}.windowMs`, given["windowMs"], { min: 1, fallback: 60_000 }),
  };
}

function resolveProjects(projects: EmulatorOptions["projects"]): ProjectSeed[] {
  if (!Array.isArray(projects)) {
    const count = checkInteger("projects", projects, { min: 0, fallback: 3 });
    return Array.from({ length: count }, () => ({}));
  }
  return projects.map((project: unknown, index) => {
    checkRecord(`projects[${index}]`, project, ["id", "name", "sessions", "issues"]);
    // A deep copy, of a record whose keys were just checked; their values are checked as the rows are made.
    return structuredClone(project) as ProjectSeed;
  });
}

function resolveBaseUrl(baseUrl: unknown): string {
  const given = checkString("baseUrl", baseUrl);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const plain =
    url !== undefined && /^https?:$/.test(url.protocol) && !/[?#]/.test(given) && url.username + url.password === "";
  if (!plain) throw new TypeError("baseUrl must be an absolute http(s) URL without query, hash or credentials");
  return url.href.replace(/\/+$/, "");
}

function checkTokenPrefix(prefix: unknown): string {
  const given = checkString("tokenPrefix", prefix);
  if (/^[\w-]+$/.test(given)) return given;
  throw new TypeError("tokenPrefix must consist of letters, digits, - and _");
}

/** The largest time that a `Date` holds. */
const LAST_INSTANT = 8.64e15;

/** `now`, which throws a `TypeError` as soon as it gives no time. */
function checkedClock(now: () => number): () => number {
  return () => {
    const time: unknown = now();
    if (typeof time === "number" && Math.abs(time) <= LAST_INSTANT) return time;
    throw new TypeError("now() must return a number of milliseconds");
  };
}

function checkFunction<Value>(where: string, value: Value): Value {
  if (value === undefined || typeof value === "function") return value;
  throw new TypeError(`${where} must be a function`);
}
