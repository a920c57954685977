/** The service in memory, for tests: `project-automation/testing`. */

export type {
  Conventions,
  CorsConvention,
  ExtendedRecord,
  ExtraFields,
  Fields,
  RateLimitHeaders,
  RefusalConvention,
  RefusalReason,
} from "./conventions.ts";
export type { ClientConnection, Emulator, EmulatorTables } from "./emulator.ts";
export { createEmulator } from "./emulator.ts";
export type { OperationName } from "./endpoints.ts";
export type { Fault, FaultHandle, JsonBody } from "./faults.ts";
export type { EmulatorOptions, ProjectSeed } from "./options.ts";
export type { IssueTable, ProjectTable, SessionTable } from "./project-tables.ts";
export { seededRandom } from "./random.ts";
export type { RateLimit } from "./rate-limit.ts";
export type { RecordedRequest } from "./request-log.ts";
export type { ResolvedConventions } from "./resolve-conventions.ts";
export { resolveConventions } from "./resolve-conventions.ts";
export type { HeaderScript } from "./response.ts";
export type { EmulatorRoute, RoutedRequest, RouteHandle, RouteResponse } from "./routes.ts";
export type {
  CreatedEmulatorToken,
  EmulatorIssue,
  EmulatorOwner,
  EmulatorProject,
  EmulatorSession,
  EmulatorToken,
  IssueChange,
  IssueInput,
  OwnerInput,
  ProjectInput,
  ScopeName,
  SessionInput,
  TokenInput,
} from "./tables.ts";
export type { OwnerTable, TokenTable } from "./token-tables.ts";
