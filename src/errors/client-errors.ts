import type { Session } from "../models.ts";
import { AutomationError, type ErrorDetails, type TimeoutPhase, type ValidationIssue } from "./automation-error.ts";

/** An option of the client is invalid. Thrown by the constructor, `withOptions` and `setToken`; nothing was sent. */
export class ConfigError extends AutomationError {
  static override readonly kinds: readonly ["config"] = ["config"];
  declare readonly kind: "config";
}

/** An argument of a call is invalid. Nothing was sent. */
export class ArgumentError extends AutomationError {
  static override readonly kinds: readonly ["argument"] = ["argument"];
  declare readonly kind: "argument";
}

/** The response is a 3xx. Redirects are never followed, since the token would travel with them. */
export class RedirectError extends AutomationError {
  static override readonly kinds: readonly ["redirect"] = ["redirect"];
  declare readonly kind: "redirect";
}

/** The details of a `ConnectionError` besides those of every error. */
export interface ConnectionErrorDetails extends ErrorDetails {
  /** The platform's own code, such as `ECONNRESET`, where there is one. */
  platformCode?: string | undefined;
  /** Sending the request again cannot help. */
  permanent?: true | undefined;
}

/** No whole response was received: the connection could not be made, or was lost. `outcome` says which. */
export class ConnectionError extends AutomationError {
  static override readonly kinds: readonly ["connection"] = ["connection"];
  declare readonly kind: "connection";
  /** The platform's own code, such as `ECONNRESET`, where there is one. */
  declare readonly platformCode?: string;
  /** `true` if sending the request again cannot help: an invalid certificate, or a request that `fetch` refuses. */
  declare readonly permanent?: true;

  constructor(message: string, details: ConnectionErrorDetails = {}) {
    super(message, details);
  }
}

/** The details of a `TimeoutError` besides those of every error. */
export interface TimeoutErrorDetails extends ErrorDetails {
  /** The stage in which the time ran out. */
  phase?: TimeoutPhase | undefined;
  /** For `sessions.waitFor`: the last session seen. */
  session?: Session | undefined;
}

/** A time limit ended the call: `timeoutMs` within an attempt, or `totalTimeoutMs` in any stage. */
export class TimeoutError extends AutomationError {
  static override readonly kinds: readonly ["timeout"] = ["timeout"];
  declare readonly kind: "timeout";
  /** The stage in which the time ran out; `total` is between attempts. */
  declare readonly phase: TimeoutPhase;

  constructor(message: string, details: TimeoutErrorDetails = {}) {
    super(message, details);
  }
}

/** The caller ended the call, by its signal or in `onRequest`. `cause` is the signal's reason, or what `onRequest` threw. */
export class AbortError extends AutomationError {
  static override readonly kinds: readonly ["abort"] = ["abort"];
  declare readonly kind: "abort";
}

/** A 2xx response whose body is not JSON, is too large, or is empty where one is due. `rawBody` holds the text. */
export class ResponseParseError extends AutomationError {
  static override readonly kinds: readonly ["parse"] = ["parse"];
  declare readonly kind: "parse";
}

/** The details of a `ResponseValidationError` besides those of every error. */
export interface ResponseValidationErrorDetails extends ErrorDetails {
  /** The unexpected values: where, and what was expected there. */
  issues?: readonly ValidationIssue[] | undefined;
}

/** A 2xx response of another shape than the contract's, or than the caller's schema. `rawBody` holds the text. */
export class ResponseValidationError extends AutomationError {
  static override readonly kinds: readonly ["validation"] = ["validation"];
  declare readonly kind: "validation";
  /** The unexpected values: where, and what was expected there; never the values themselves. */
  declare readonly issues: readonly ValidationIssue[];

  constructor(message: string, details: ResponseValidationErrorDetails = {}) {
    super(message, { issues: [], ...details });
  }
}

/** A walk received a cursor that it had received before. The items of the page that brought it were delivered. */
export class PaginationError extends AutomationError {
  static override readonly kinds: readonly ["pagination"] = ["pagination"];
  declare readonly kind: "pagination";
}

/** The token provider threw, or returned no usable token. `cause` is a copy of what it threw, without secrets. */
export class TokenProviderError extends AutomationError {
  static override readonly kinds: readonly ["token_provider"] = ["token_provider"];
  declare readonly kind: "token_provider";
}
