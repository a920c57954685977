/** The service in memory, for tests: `project-automation/testing`. */

export type { Conventions, ExtraFields, OperationName, RefusalConvention, RefusalReason } from "./conventions.ts";
export type { Emulator } from "./emulator.ts";
export { createEmulator } from "./emulator.ts";
export type { Fault, FaultHandle, JsonBody } from "./faults.ts";
export type { HeaderScript } from "./headers.ts";
export type { EmulatorOptions, ProjectSeed } from "./options.ts";
export { seededRandom } from "./random.ts";
export type { RateLimit } from "./rate-limit.ts";
export type { RecordedRequest } from "./request-log.ts";
export type {
  EmulatorIssue,
  EmulatorProject,
  EmulatorSession,
  IssueChange,
  IssueInput,
  ProjectInput,
  SessionInput,
} from "./store.ts";
export type {
  EmulatorTables,
  IssueTable,
  OwnerTable,
  ProjectTable,
  SessionTable,
  TokenInput,
  TokenTable,
} from "./tables.ts";
export type { CreatedEmulatorToken, EmulatorOwner, EmulatorToken, ScopeName } from "./tokens.ts";
