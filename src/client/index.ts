export type { ApiPromise, ApiResponse, WithResponse } from "../core/call/api-promise.ts";
export type { CallOptions, ExtraOptions, RequestInfo, ResponseInfo, RetryOptions } from "../core/call/call-options.ts";
export type { StandardIssue, StandardResult, StandardSchema } from "../core/call/standard-schema.ts";
export type { CustomList, CustomRequest, JsonInput, PaginateCustom, SendCustom } from "../core/custom.ts";
export type { PolledRecord } from "../core/errors/automation-error.ts";
export {
  AutomationError,
  type ErrorDetails,
  type Outcome,
  type TimeoutPhase,
  type ValidationIssue,
} from "../core/errors/automation-error.ts";
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
} from "../core/errors/classes.ts";
export { type HttpStatusOptions, toHttpStatus } from "../core/errors/to-http-status.ts";
export type {
  ClientEvent,
  DriftEvent,
  Durations,
  EndEvent,
  EventListener,
  LogFields,
  Logger,
  PageEvent,
  PollEvent,
  QueueWaitEvent,
  RateLimitPauseEvent,
  RateLimitResumeEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  RetryReason,
  TokenRefreshEvent,
  Waits,
} from "../core/events.ts";
export type { CallObserver, CallStart, Instrumentation } from "../core/instrumentation.ts";
export type { ListOptions, ListParams } from "../core/list.ts";
export type { Page } from "../core/paging/page.ts";
export type { Paginator, ToArrayOptions } from "../core/paging/paginator.ts";
export { memoryRateLimiter } from "../core/rate-limit/memory-rate-limiter.ts";
export type {
  Admission,
  Permit,
  RateLimitedCall,
  RateLimiter,
  RateLimitHead,
  RateLimitSnapshot,
  ReportedPause,
} from "../core/rate-limit/rate-limiter.ts";
export { type RotatingToken, rotatingToken } from "../core/token/rotating-token.ts";
export type { RotatingTokenOptions } from "../core/token/rotating-token-options.ts";
export type { RotatedToken, StoredToken } from "../core/token/token-format.ts";
export type { TokenContext, TokenProvider } from "../core/token/token-source.ts";
export type { HeadersInput } from "../core/wire/headers.ts";
export type { FetchFunction, FetchInit, FetchResponse } from "../core/wire/http-request.ts";
export type { Method } from "../core/wire/method.ts";
export { type Path, path } from "../core/wire/path.ts";
export type { Query, QueryValue } from "../core/wire/query.ts";
export type { IssueCreateInput, Issues } from "../service/issues.ts";
export type { CreatedToken, Issue, IssueType, Project, Session, Token } from "../service/models.ts";
export type { ProjectRef, Projects } from "../service/projects.ts";
export { impliesScope, isScope, missingScopes, SCOPES, type Scope } from "../service/scopes.ts";
export type { WaitOptions, WatchOptions } from "../service/session-waits.ts";
export type { Sessions } from "../service/sessions.ts";
export type { RotateOptions, TokenCreateInput, Tokens } from "../service/tokens.ts";
export { Client } from "./client.ts";
export type { LogLevel } from "./logging.ts";
export type { ClientOptions } from "./options.ts";
export { VERSION } from "./version.ts";
