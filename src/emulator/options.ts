import { problemOfEnvironment } from "../core/checks/globals.ts";
import {
  arrayOf,
  BOOLEAN,
  countFrom,
  either,
  functions,
  numbers,
  type Parsed,
  RECORD,
  required,
  type Shape,
  strings,
  validator,
} from "../core/checks/validators.ts";
import { SCOPES } from "../service/scopes.ts";
import { check, integer, TEXT, TEXTS } from "./checks.ts";
import type { Conventions } from "./conventions.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { RecordedRequest } from "./request-log.ts";
import { type ResolvedConventions, resolveConventions } from "./resolve-conventions.ts";
import type { IssueInput, ProjectInput, ScopeName, SessionInput } from "./tables.ts";

/** A project to begin with. */
export interface ProjectSeed extends ProjectInput {
  /** Its sessions, in place of `sessionsPerProject` many. */
  readonly sessions?: readonly SessionInput[] | undefined;
  /** Its issues, numbered from 1. @default none */
  readonly issues?: readonly IssueInput[] | undefined;
}

/** Options of `createEmulator`. All are optional, and all are read once: changing the object later has no effect. */
export interface EmulatorOptions {
  /**
   * The projects to begin with, or how many. Each project of a list may have `sessions` and `issues`.
   * @default `web`, `api` and `docs`; in `web` the session `ses_1`, which goes through `queued`, `running` and `done`
   */
  readonly projects?: number | readonly ProjectSeed[] | undefined;
  /** The number of sessions in each project at the start. @default 3 */
  readonly sessionsPerProject?: number | undefined;
  /** The states of each session in order: each `GET` shows the next. @default none */
  readonly sessionStates?: readonly string[] | undefined;
  /** Serves `GET /projects/{project}/issues`, which the API documentation does not show. @default false */
  readonly listIssues?: boolean | undefined;
  /** Permissions of the owner of `emulator.token`. @default every scope */
  readonly permissions?: readonly ScopeName[] | undefined;
  /** Requests per token and window; `false` for no limit. @default { limit: 600, windowMs: 60_000 } */
  readonly rateLimit?: RateLimit | false | undefined;
  /** The clock, in milliseconds since 1970. @default `Date.now` */
  readonly now?: (() => number) | undefined;
  /** The source of ids and tokens, numbers in [0, 1). @default a seeded one */
  readonly random?: (() => number) | undefined;
  /** Where the service is, up to the version segment. @default `https://emulator.invalid` and `conventions.basePath` */
  readonly baseUrl?: string | undefined;
  /** The first part of a token, before its `key_id`. @default "emu" */
  readonly tokenPrefix?: string | undefined;
  /** Answers to what the API documentation does not show. */
  readonly conventions?: Conventions | undefined;
  /** The deployment that the conventions were read from, and the day. */
  readonly conventionsOf?: string | undefined;
  /** The most requests in the log; the oldest go first. `Infinity` for all. @default 100_000 */
  readonly logLimit?: number | undefined;
  /** Called with each request once its response has ended. */
  readonly onRequest?: ((request: RecordedRequest) => void) | undefined;
}

type Checked = "projects" | "rateLimit" | "conventions" | "conventionsOf" | "random" | "onRequest";

export interface ResolvedOptions
  extends Required<Omit<Parsed<typeof OPTIONS>, Checked>>,
    Pick<Parsed<typeof OPTIONS>, "random" | "onRequest" | "conventionsOf"> {
  readonly projects: readonly ProjectSeed[];
  readonly rateLimit: RateLimit | false;
  readonly conventions: ResolvedConventions;
}

const COUNT = integer(0);
const RATE_LIMIT = { limit: required(COUNT), windowMs: integer(1) } satisfies Shape<RateLimit>;
const PROJECT_SEED = {
  id: TEXT,
  name: TEXT,
  sessions: arrayOf(RECORD, "an array"),
  issues: arrayOf(RECORD, "an array"),
} satisfies Shape<ProjectSeed>;
const COUNT_OR_PROJECTS = validator<number | readonly unknown[]>(`${COUNT.words}, or an array of projects`, (value) =>
  Array.isArray(value) ? value : COUNT.parse(value),
);

/** The schema of the options of `createEmulator`. */
export const OPTIONS = {
  projects: COUNT_OR_PROJECTS,
  sessionsPerProject: COUNT,
  sessionStates: TEXTS,
  listIssues: BOOLEAN,
  permissions: TEXTS,
  rateLimit: either(false, RECORD),
  now: functions<() => number>(),
  random: functions<() => number>(),
  baseUrl: strings("an absolute http(s) URL without query, hash or credentials", isBaseUrl),
  tokenPrefix: strings("letters, digits, - and _", (value) => /^[\w-]+$/.test(value)),
  conventions: RECORD,
  conventionsOf: strings("a line of up to 300 visible characters", isLine),
  logLimit: countFrom(0),
  onRequest: functions<(request: RecordedRequest) => void>(),
} satisfies Shape<EmulatorOptions>;

export const TOKEN_PREFIX = "emu";

/** Checks and copies `options`; throws a `TypeError` for an unknown key, a wrong type or a value out of range. */
export function resolveOptions(options?: unknown): ResolvedOptions {
  const problem = problemOfEnvironment("createEmulator", "Request", "Response", "structuredClone");
  if (problem !== undefined) throw new TypeError(problem);
  const given = check.options(options, "options", OPTIONS);
  const conventions = resolveConventions(given.conventions);
  const now = given.now ?? ((): number => Date.now());
  return {
    sessionsPerProject: 3,
    listIssues: false,
    tokenPrefix: TOKEN_PREFIX,
    logLimit: 100_000,
    ...given,
    projects: resolveProjects(given.projects ?? worldOf(given)),
    sessionStates: [...(given.sessionStates ?? [])],
    permissions: [...(given.permissions ?? SCOPES)],
    rateLimit: parseRateLimit(given.rateLimit ?? { limit: 600 }),
    now: () => check.value(now(), "the result of now()", INSTANT),
    baseUrl: new URL(given.baseUrl ?? `https://emulator.invalid${conventions.basePath}`).href.replace(/\/+$/, ""),
    conventions,
  };
}

/** A copy of a rate limit, or `false`. */
export function parseRateLimit(rateLimit: unknown): RateLimit | false {
  return rateLimit === false ? false : check.options(rateLimit, "rateLimit", RATE_LIMIT);
}

/** The world of the documents, with as many sessions as are asked for. */
function worldOf({ sessionsPerProject = 3, sessionStates }: Parsed<typeof OPTIONS>): ProjectSeed[] {
  const first = { id: "ses_1", states: sessionStates ?? ["queued", "running", "done"] };
  const sessions = Array.from({ length: sessionsPerProject }, (_, index) => (index === 0 ? first : {}));
  return [{ name: "web", sessions }, { name: "api" }, { name: "docs" }];
}

function resolveProjects(projects: number | readonly unknown[]): ProjectSeed[] {
  if (typeof projects === "number") return Array.from({ length: projects }, () => ({}));
  return projects.map((project, index) => {
    const copy: unknown = structuredClone(check.options(project, `projects[${index}]`, PROJECT_SEED));
    return copy as ProjectSeed; // its rows are checked as they are made
  });
}

/** A time that a `Date` can hold. */
const INSTANT = numbers("a number of milliseconds", (value) => Math.abs(value) <= 8.64e15);

function isLine(value: string): boolean {
  return /^[^\p{C}\p{Zl}\p{Zp}]{1,300}$/u.test(value);
}

function isBaseUrl(value: string): boolean {
  if (!URL.canParse(value) || /[?#]/.test(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username + password === "";
}
