import { checkInteger, checkRecord, checkString, checkStrings, isRecord } from "./checks.ts";

/** The operations of the contract, by the names that the log, the faults and the conventions use. */
export type OperationName =
  | "tokens.create"
  | "tokens.rotate"
  | "tokens.revoke"
  | "projects.list"
  | "issues.create"
  | "sessions.list"
  | "sessions.get";

/** Why the emulator refuses a request. 429 is not among them: the contract fixes it. */
export type RefusalReason =
  | "missingToken"
  | "unknownToken"
  | "revokedToken"
  | "expiredToken"
  | "missingScope"
  | "scopeEscalation"
  | "unknownRoute"
  | "wrongMethod"
  | "unknownProject"
  | "unknownSession"
  | "unknownTokenRecord"
  | "malformedBody"
  | "invalidField"
  | "invalidCursor"
  | "bodyTooLarge";

/** How one kind of refusal looks on the wire. */
export interface RefusalConvention {
  /** An HTTP status from 400 to 599. */
  readonly status?: number | undefined;
  /** The `error` of the body. */
  readonly code?: string | undefined;
}

/** What stands beside the fields of the contract, in every record of a kind. It never overrides one of those. */
export interface ExtraFields {
  readonly project?: Readonly<Record<string, unknown>> | undefined;
  readonly issue?: Readonly<Record<string, unknown>> | undefined;
  readonly session?: Readonly<Record<string, unknown>> | undefined;
  readonly token?: Readonly<Record<string, unknown>> | undefined;
  readonly page?: Readonly<Record<string, unknown>> | undefined;
  readonly error?: Readonly<Record<string, unknown>> | undefined;
}

/** What the contract does not show. Each has a default, listed in `docs/emulator.md`; state only what differs. */
export interface Conventions {
  /** Status and code of refusals. */
  readonly refusals?: Readonly<Partial<Record<RefusalReason, RefusalConvention | undefined>>> | undefined;
  /** The status (200 to 299) of success. With 204 or 205 there is no body. */
  readonly successStatus?: Readonly<Partial<Record<OperationName, number | undefined>>> | undefined;
  /** Unknown fields, for code that must bear a service which adds some. */
  readonly extraFields?: ExtraFields | undefined;
  /** How long a token lives whose creator does not say. Default 90. */
  readonly tokenLifetimeDays?: number | undefined;
  /** The largest `expires_in_days` that is taken. Default 3650. */
  readonly maxTokenLifetimeDays?: number | undefined;
  /** The types an issue may have. Default: any string that is not empty. */
  readonly issueTypes?: readonly string[] | undefined;
  /** The status of a new issue. Default `"open"`. */
  readonly issueStatus?: string | undefined;
  /** The state of a new session. Default `"running"`. */
  readonly sessionState?: string | undefined;
}

/** {@link Conventions} with every gap filled. */
export interface ResolvedConventions {
  readonly refusals: Readonly<Record<RefusalReason, { readonly status: number; readonly code: string }>>;
  readonly successStatus: Readonly<Record<OperationName, number>>;
  readonly extraFields: Readonly<Record<keyof ExtraFields, Readonly<Record<string, unknown>>>>;
  readonly tokenLifetimeDays: number;
  readonly maxTokenLifetimeDays: number;
  readonly issueTypes: readonly string[] | undefined;
  readonly issueStatus: string;
  readonly sessionState: string;
}

const REFUSALS: ResolvedConventions["refusals"] = {
  missingToken: { status: 401, code: "unauthorized" },
  unknownToken: { status: 401, code: "unauthorized" },
  revokedToken: { status: 401, code: "unauthorized" },
  expiredToken: { status: 401, code: "unauthorized" },
  missingScope: { status: 403, code: "forbidden" },
  scopeEscalation: { status: 403, code: "forbidden" },
  unknownRoute: { status: 404, code: "not_found" },
  wrongMethod: { status: 405, code: "method_not_allowed" },
  unknownProject: { status: 404, code: "not_found" },
  unknownSession: { status: 404, code: "not_found" },
  unknownTokenRecord: { status: 404, code: "not_found" },
  malformedBody: { status: 400, code: "bad_request" },
  invalidField: { status: 422, code: "invalid_request" },
  invalidCursor: { status: 400, code: "invalid_cursor" },
  bodyTooLarge: { status: 413, code: "payload_too_large" },
};

const SUCCESS: ResolvedConventions["successStatus"] = {
  "tokens.create": 201,
  "tokens.rotate": 201,
  "tokens.revoke": 204,
  "projects.list": 200,
  "issues.create": 201,
  "sessions.list": 200,
  "sessions.get": 200,
};

const EXTRA_FIELDS: ResolvedConventions["extraFields"] = {
  project: {},
  issue: {},
  session: {},
  token: {},
  page: {},
  error: {},
};

const MAX_LIFETIME_DAYS = 3650;

const KEYS = [
  "refusals",
  "successStatus",
  "extraFields",
  "tokenLifetimeDays",
  "maxTokenLifetimeDays",
  "issueTypes",
  "issueStatus",
  "sessionState",
] as const satisfies readonly (keyof Conventions)[];

/** The names of all operations. */
export const OPERATION_NAMES: readonly string[] = Object.keys(SUCCESS);

/** Checks and copies `given`; throws a `TypeError` for an unknown key, a wrong type or a status out of range. */
export function resolveConventions(given: unknown): ResolvedConventions {
  const record = checkRecord("conventions", given ?? {}, KEYS);
  const longest = checkInteger("conventions.maxTokenLifetimeDays", record["maxTokenLifetimeDays"], {
    min: 1,
    max: 1_000_000,
    fallback: MAX_LIFETIME_DAYS,
  });
  return {
    refusals: overlay("conventions.refusals", { given: record["refusals"], defaults: REFUSALS, merge: refusal }),
    successStatus: overlay("conventions.successStatus", {
      given: record["successStatus"],
      defaults: SUCCESS,
      merge: (where, value, fallback) => checkInteger(where, value, { min: 200, max: 299, fallback }),
    }),
    extraFields: overlay("conventions.extraFields", {
      given: record["extraFields"],
      defaults: EXTRA_FIELDS,
      merge: extra,
    }),
    maxTokenLifetimeDays: longest,
    tokenLifetimeDays: checkInteger("conventions.tokenLifetimeDays", record["tokenLifetimeDays"], {
      min: 1,
      max: longest,
      fallback: Math.min(90, longest),
    }),
    issueTypes:
      record["issueTypes"] === undefined ? undefined : checkStrings("conventions.issueTypes", record["issueTypes"]),
    issueStatus: checkString("conventions.issueStatus", record["issueStatus"] ?? "open"),
    sessionState: checkString("conventions.sessionState", record["sessionState"] ?? "running"),
  };
}

interface Overlay<Key extends string, Value> {
  readonly given: unknown;
  readonly defaults: Readonly<Record<Key, Value>>;
  readonly merge: (where: string, value: unknown, fallback: Value) => Value;
}

function overlay<Key extends string, Value>(where: string, spec: Overlay<Key, Value>): Record<Key, Value> {
  const merged: Record<Key, Value> = { ...spec.defaults };
  // Object.keys is typed as string[]; these are the keys of a literal above.
  const keys = Object.keys(spec.defaults) as Key[];
  const given = checkRecord(where, spec.given ?? {}, keys);
  for (const key of keys) {
    if (given[key] !== undefined) merged[key] = spec.merge(`${where}.${key}`, given[key], spec.defaults[key]);
  }
  return merged;
}

function refusal(
  where: string,
  value: unknown,
  fallback: ResolvedConventions["refusals"][RefusalReason],
): typeof fallback {
  const given = checkRecord(where, value, ["status", "code"]);
  return {
    status: checkInteger(`${where}.status`, given["status"], { min: 400, max: 599, fallback: fallback.status }),
    code: checkString(`${where}.code`, given["code"] ?? fallback.code),
  };
}

function extra(where: string, value: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new TypeError(`${where} must be an object`);
  return structuredClone(value);
}
