import type { Session } from "../models.ts";
import { AutomationError, type ErrorDetails, type TimeoutPhase, type ValidationIssue } from "./automation-error.ts";

/** The client was given options it cannot work with. Thrown by the constructor, `withOptions` and `setToken`. */
export class ConfigError extends AutomationError {
  static override readonly kinds: readonly ["config"] = ["config"];
  declare readonly kind: "config";
}

/** A call was given arguments it cannot work with. Nothing was sent. */
export class ArgumentError extends AutomationError {
  static override readonly kinds: readonly ["argument"] = ["argument"];
  declare readonly kind: "argument";
}

/** The service answered with a 3xx. Redirects are never followed, since the token would travel with them. */
export class RedirectError extends AutomationError {
  static override readonly kinds: readonly ["redirect"] = ["redirect"];
  declare readonly kind: "redirect";
}

/** What a connection failure knows beyond the rest. */
export interface ConnectionErrorDetails extends ErrorDetails {
  /** The platform's own code, such as `ECONNRESET`, where it gave one. */
  platformCode?: string | undefined;
  /** Sending the request again cannot help. */
  permanent?: true | undefined;
}

/** No whole answer came: the connection could not be made, or was lost. `outcome` tells which. */
export class ConnectionError extends AutomationError {
  static override readonly kinds: readonly ["connection"] = ["connection"];
  declare readonly kind: "connection";
  /** The platform's own code, such as `ECONNRESET`, where it gave one. */
  declare readonly platformCode?: string;
  /** `true` if sending the request again cannot help: an invalid certificate, or a request that `fetch` refuses. */
  declare readonly permanent?: true;

  constructor(message: string, details: ConnectionErrorDetails = {}) {
    super(message, details);
  }
}

/** What a timeout knows beyond the rest. */
export interface TimeoutErrorDetails extends ErrorDetails {
  /** Where the time ran out. */
  phase?: TimeoutPhase | undefined;
  /** For `sessions.waitFor`: the last session seen. */
  session?: Session | undefined;
}

/** A time budget ran out: `timeoutMs` within an attempt, or `totalTimeoutMs` anywhere. */
export class TimeoutError extends AutomationError {
  static override readonly kinds: readonly ["timeout"] = ["timeout"];
  declare readonly kind: "timeout";
  /** Where the time ran out; `total` is between attempts. */
  declare readonly phase: TimeoutPhase;

  constructor(message: string, details: TimeoutErrorDetails = {}) {
    super(message, details);
  }
}

/** The caller's signal ended the call. `cause` is the signal's reason, whatever it is. */
export class AbortError extends AutomationError {
  static override readonly kinds: readonly ["abort"] = ["abort"];
  declare readonly kind: "abort";
}

/** A 2xx answer whose body is not JSON, or is empty where one is due. `rawBody` holds the text. */
export class ResponseParseError extends AutomationError {
  static override readonly kinds: readonly ["parse"] = ["parse"];
  declare readonly kind: "parse";
}

/** What a validation failure knows beyond the rest. */
export interface ResponseValidationErrorDetails extends ErrorDetails {
  /** What is wrong and where. */
  issues?: readonly ValidationIssue[] | undefined;
}

/** A 2xx answer of another shape than the contract's, or than the caller's schema. `rawBody` holds the text. */
export class ResponseValidationError extends AutomationError {
  static override readonly kinds: readonly ["validation"] = ["validation"];
  declare readonly kind: "validation";
  /** What is wrong and where; never the values. */
  declare readonly issues: readonly ValidationIssue[];

  constructor(message: string, details: ResponseValidationErrorDetails = {}) {
    super(message, { issues: [], ...details });
  }
}

/** A walk met a cursor it had been given before. The items of the page that brought it have been delivered. */
export class PaginationError extends AutomationError {
  static override readonly kinds: readonly ["pagination"] = ["pagination"];
  declare readonly kind: "pagination";
}

/** The token provider threw, or gave something that cannot be a token. `cause` is what it threw. */
export class TokenProviderError extends AutomationError {
  static override readonly kinds: readonly ["token_provider"] = ["token_provider"];
  declare readonly kind: "token_provider";
}
