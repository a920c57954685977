import { fieldsOf, isError } from "../checks/values.ts";

/** The effect of a request on the service, as far as the client can know. */
export type Outcome = "not_sent" | "rejected" | "accepted" | "unknown";

/** Where in a call the time ran out. */
export type TimeoutPhase = "queue" | "token" | "headers" | "body" | "total";

/** One thing that is wrong with a response: where, and what was expected there. Never the value. */
export interface ValidationIssue {
  /** Path from the root of the response body. */
  readonly path: readonly (string | number)[];
  /** The expectation, in words. */
  readonly message: string;
}

/** A record that changes its state, as far as an error shows it. */
export interface PolledRecord {
  /** Identifies the record. */
  id: string;
  /** The state when it was last seen. The API documentation does not list the values. */
  state: string;
}

/** The records that an error may carry, each noted by the part of the client that read it. No print and no `toJSON` shows one. */
interface ErrorRecords {
  /** In a wait for a session: the last session seen, if there was one. It may hold anything that the service sends. */
  session?: PolledRecord | undefined;
}

/** The details of an error's call, all of them free of secrets. */
export interface ErrorDetails extends ErrorRecords {
  /** The id of the call, the one in its events and log lines. Absent where no call was made, as with invalid arguments. */
  callId?: string | undefined;
  /** HTTP status of the response; absent if there was none. */
  status?: number | undefined;
  /**
   * The service's error code: the `error` of the response's body if that is a string, else the `code` beside its sentence.
   * `ECONNREFUSED` and the like are the `platformCode` of a `ConnectionError`.
   */
  code?: string | undefined;
  /**
   * The service's own sentence: the body's `message`, else its `detail`, also those of its `error` or of the first of its
   * `errors`. One line of at most 300 characters, without secrets. It is part of `message`, too.
   */
  detail?: string | undefined;
  /** The HTTP method. */
  method?: string | undefined;
  /** The path's template: `/sessions/{id}` as the API documentation has it, `{}` for each value of a path of your own. */
  path?: string | undefined;
  /** The number of requests of this call that were sent. */
  attempts?: number | undefined;
  /** The wait that the service asked for, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** A refusal's body: parsed where it is JSON, at most 64 KiB, secrets removed. */
  body?: unknown;
  /** The `x-request-id` of the response. Quote it to the operators of the service. */
  requestId?: string | undefined;
  /**
   * The effect of the request, which says whether a write may be sent again. `not_sent`: nothing reached the
   * service. `rejected`: the service refused it, or a 401 or 429 came in its place. `accepted`: the service answered 2xx, but the response
   * was lost or could not be used: do not send a write again. `unknown`: it may have been applied, or something else answered
   * in the service's place: check first. A read changes nothing: it has no outcome where that of a write would be
   * `unknown`, or where no connection was made.
   */
  outcome?: Outcome | undefined;
  /** `true` if an earlier attempt of this call may have been applied, which may have caused this response. */
  priorAmbiguous?: boolean | undefined;
  /**
   * In an iteration: the cursor of the page that failed, `null` for the first. `list({ cursor: error.cursor ?? undefined })`
   * goes on. One that holds a token is left out.
   */
  cursor?: string | null | undefined;
  /** The error that caused it, free of secrets. */
  cause?: unknown;
  /**
   * The text of a 2xx response's body that could not be used, whole or the part that was received. A one-time `plaintext`
   * is still in it. Absent from every print and from `toJSON`.
   */
  rawBody?: string | undefined;
}

/** The details of an error with fields of its own. */
export type DetailsOf<Failure, Own extends keyof Failure> = ErrorDetails & {
  [Field in Own]?: Failure[Field] | undefined;
};

const NAMES: Readonly<Record<string, string>> = {
  auth: "AuthenticationError",
  permission: "PermissionDeniedError",
  parse: "ResponseParseError",
  validation: "ResponseValidationError",
};

const BRAND: unique symbol = Symbol.for("project-automation.error"); // a registered symbol is shared by every copy of the package

/** The fields of every error. */
export interface AutomationError extends Readonly<Omit<ErrorDetails, "cause" | "rawBody">> {}

/**
 * Base of everything this library rejects with or throws. `kind` tells the class apart; `instanceof` and
 * `isAutomationError` hold across the ESM and CommonJS copies of the package and across realms, because they read a
 * brand and not the prototype. No token, header, request or response can be reached from an error.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns these fields, each of which may be absent
export class AutomationError extends Error {
  /** The kinds of this class; its own first. */
  static readonly kinds: readonly string[] = [];

  /** The test of `instanceof`: the brand and the `kind`, and for a subclass of your own its prototype. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // A class that was compiled to a function asks this before its constructor has set the kind.
    if (super[Symbol.hasInstance](value)) return true;
    // A subclass written by a user has no kinds of its own; its prototype decides.
    if (!Object.hasOwn(this, "kinds") || !isBrandedError(value)) return false;
    return this.kinds.length === 0 || this.kinds.includes(value.kind);
  }

  /** The class's name, also where a bundler has renamed the class. */
  override get name(): string {
    const kind = kindOf(this);
    return NAMES[kind] ?? `${kind.replaceAll(/(?:^|_)./g, (start) => start.slice(-1).toUpperCase())}Error`;
  }

  /** A name of your own, on this one error. */
  override set name(name: string) {
    Object.defineProperty(this, "name", { value: name, configurable: true, writable: true });
  }

  /** The class, for a `switch`: literal in each class. */
  declare readonly kind: string;
  readonly #rawBody: string | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message);
    const { cause, rawBody, ...fields } = details;
    this.#rawBody = rawBody;
    const known = Object.entries({ kind: kindOf(this), ...fields }).filter(([, value]) => value !== undefined);
    Object.assign(this, Object.fromEntries(known));
    if (cause !== undefined && Object.hasOwn(details, "cause")) attachCause(this, cause);
  }

  /** @internal The brand. A registered symbol, the same in every copy of the package. */
  get [BRAND](): true {
    return true;
  }

  /** The text of a success whose body could not be used; the one-time secret of a token is still in it. Never printed. */
  get rawBody(): string | undefined {
    return this.#rawBody;
  }

  /** The fields as plain data, without stack, `rawBody` and records of the service; the cause as name, message and code. */
  toJSON(): Record<string, unknown> {
    const cause = this.cause === undefined ? {} : { cause: summarize(this.cause) };
    return { name: this.name, message: this.message, ...(this as object), ...cause }; // its own fields; name and message are none of them
  }
}

function kindOf(error: AutomationError): string {
  return (error.constructor as typeof AutomationError).kinds[0] ?? "automation"; // each constructor has its class's statics
}

export function isBrandedError(value: unknown): value is AutomationError {
  return fieldsOf(value)[BRAND] === true;
}

/**
 * Notes on an error the cursor of the page that failed, or a record of the service, which no print shows. A value that it has
 * already stays. Returns the error.
 */
export function annotate<Thrown, Field extends "cursor" | keyof ErrorRecords>(
  error: Thrown,
  field: Field,
  value: ErrorDetails[Field],
): Thrown {
  if (value === undefined || !isBrandedError(error) || error[field] !== undefined) return error;
  const access = field === "cursor" ? { value, writable: true, enumerable: true } : { get: () => value };
  return Object.defineProperty(error, field, { ...access, configurable: true });
}

// A data property `cause` is copied by structuredClone, which throws on what it cannot copy; an accessor is left out.
function attachCause(error: Error, cause: unknown): void {
  let access: PropertyDescriptor = { value: cause, writable: true };
  try {
    structuredClone(cause);
  } catch {
    access = { get: () => cause };
  }
  Object.defineProperty(error, "cause", { ...access, configurable: true });
}

function summarize(cause: unknown): unknown {
  if (!isError(cause)) return ["object", "function"].includes(typeof cause) ? undefined : String(cause);
  const { name, message, code } = cause as Error & { code?: unknown }; // platform errors have one without a type
  return { name: String(name), message: String(message), ...(typeof code === "string" ? { code } : {}) };
}
