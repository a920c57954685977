export type { ApiPromise, ApiResponse, WithResponse } from "./call/api-promise.ts";
export type { CallOptions, ExtraOptions, RequestInfo, ResponseInfo, RetryOptions } from "./call/call-options.ts";
export type { FetchFunction, FetchInit, FetchResponse } from "./call/http-request.ts";
export type { Method } from "./call/operation.ts";
export { type Path, path } from "./call/path.ts";
export type { Query, QueryValue } from "./call/query.ts";
export type { StandardIssue, StandardResult, StandardSchema } from "./call/standard-schema.ts";
export type { HeadersInput } from "./checks/headers.ts";
export { Client } from "./client.ts";
export {
  AutomationError,
  type ErrorDetails,
  type Outcome,
  type TimeoutPhase,
  type ValidationIssue,
} from "./errors/automation-error.ts";
export {
  AbortError,
  type AnyAutomationError,
  ApiError,
  type ApiErrorKind,
  ArgumentError,
  AuthenticationError,
  BadRequestError,
  ConfigError,
  ConflictError,
  ConnectionError,
  isAutomationError,
  NotFoundError,
  PaginationError,
  PermissionDeniedError,
  RateLimitError,
  RedirectError,
  ResponseParseError,
  ResponseValidationError,
  ServerError,
  TimeoutError,
  TokenProviderError,
} from "./errors/classes.ts";
export type { PolledRecord } from "./errors/error-records.ts";
export { type HttpStatusOptions, toHttpStatus } from "./errors/to-http-status.ts";
export type {
  ClientEvent,
  DeprecationEvent,
  DriftEvent,
  Durations,
  EndEvent,
  EventListener,
  LogFields,
  Logger,
  PageEvent,
  PollEvent,
  RateLimitPauseEvent,
  RateLimitResumeEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  RetryReason,
  TokenRefreshEvent,
  Waits,
} from "./events.ts";
export type { CallObserver, CallStart, Instrumentation } from "./instrumentation.ts";
export type { LogLevel } from "./logging.ts";
export type { CreatedToken, Issue, IssueType, Project, Session, Token } from "./models.ts";
export type { ClientOptions } from "./options.ts";
export type { Page } from "./paging/page.ts";
export type { Paginator, ToArrayOptions } from "./paging/paginator.ts";
export { memoryRateLimiter } from "./rate-limit/memory-rate-limiter.ts";
export type {
  Admission,
  Permit,
  RateLimitedCall,
  RateLimiter,
  RateLimitHead,
  RateLimitSnapshot,
  ReportedPause,
} from "./rate-limit/rate-limiter.ts";
export type { CustomList, CustomRequest, JsonInput, PaginateCustom, SendCustom } from "./resources/custom.ts";
export type { IssueCreateInput, Issues } from "./resources/issues.ts";
export type { ListOptions, ListParams } from "./resources/list.ts";
export type { ProjectRef, Projects } from "./resources/projects.ts";
export type { WaitOptions, WatchOptions } from "./resources/session-waits.ts";
export type { Sessions } from "./resources/sessions.ts";
export type { RotateOptions, TokenCreateInput, Tokens } from "./resources/tokens.ts";
export { impliesScope, isScope, missingScopes, SCOPES, type Scope } from "./scopes.ts";
export { type RotatingToken, rotatingToken } from "./token/rotating-token.ts";
export type { RotatingTokenOptions } from "./token/rotating-token-options.ts";
export type { RotatedToken, StoredToken } from "./token/token-format.ts";
export type { TokenContext, TokenProvider } from "./token/token-source.ts";
export { VERSION } from "./version.ts";
