import { AutomationError, type DetailsOf, type TimeoutPhase, type ValidationIssue } from "./automation-error.ts";

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

/** No whole response was received: the connection could not be made, or was lost. `outcome` says which. */
export class ConnectionError extends AutomationError {
  static override readonly kinds: readonly ["connection"] = ["connection"];
  declare readonly kind: "connection";
  /** The platform's own code, such as `ECONNRESET`, where there is one. */
  declare readonly platformCode?: string | undefined;
  /** `true` if sending the request again cannot help: an invalid certificate, or a request that `fetch` refuses. */
  declare readonly permanent?: true | undefined;

  constructor(message: string, details: DetailsOf<ConnectionError, "platformCode" | "permanent"> = {}) {
    super(message, details);
  }
}

/** A time limit ended the call: `timeoutMs` within an attempt, or `totalTimeoutMs` in any stage. */
export class TimeoutError extends AutomationError {
  static override readonly kinds: readonly ["timeout"] = ["timeout"];
  declare readonly kind: "timeout";
  /** The stage in which the time ran out; `total` is between attempts. */
  declare readonly phase: TimeoutPhase;

  constructor(message: string, details: DetailsOf<TimeoutError, "phase"> = {}) {
    super(message, details);
  }
}

/** The caller ended the call, by its signal or in `onRequest`. `cause` is the signal's reason, or what `onRequest` threw. */
export class AbortError extends AutomationError {
  static override readonly kinds: readonly ["abort"] = ["abort"];
  declare readonly kind: "abort";
}

/**
 * A 2xx response whose body is not JSON, is empty where one is due, or is larger than `maxResponseBytes`. `rawBody` holds
 * the text, except of one that is too large.
 */
export class ResponseParseError extends AutomationError {
  static override readonly kinds: readonly ["parse"] = ["parse"];
  declare readonly kind: "parse";
}

/** A 2xx response of another shape than the contract's, or than the caller's schema. `rawBody` holds the text. */
export class ResponseValidationError extends AutomationError {
  static override readonly kinds: readonly ["validation"] = ["validation"];
  declare readonly kind: "validation";
  /** The unexpected values: where, and what was expected there; never the values themselves. */
  declare readonly issues: readonly ValidationIssue[];

  constructor(message: string, details: DetailsOf<ResponseValidationError, "issues"> = {}) {
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
