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
} from "../emulator/conventions.ts";
export type { ClientConnection, Emulator, EmulatorTables } from "../emulator/emulator.ts";
export { createEmulator } from "../emulator/emulator.ts";
export type { OperationName } from "../emulator/endpoints.ts";
export type { Fault, FaultHandle, JsonBody } from "../emulator/faults.ts";
export type { EmulatorOptions, ProjectSeed } from "../emulator/options.ts";
export type { IssueTable, ProjectTable, SessionTable } from "../emulator/project-tables.ts";
export { seededRandom } from "../emulator/random.ts";
export type { RateLimit } from "../emulator/rate-limit.ts";
export type { RecordedRequest } from "../emulator/request-log.ts";
export type { ResolvedConventions } from "../emulator/resolve-conventions.ts";
export { resolveConventions } from "../emulator/resolve-conventions.ts";
export type { HeaderScript } from "../emulator/response.ts";
export type { EmulatorRoute, RoutedRequest, RouteResponse } from "../emulator/routes.ts";
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
} from "../emulator/tables.ts";
export type { OwnerTable, TokenTable } from "../emulator/token-tables.ts";
