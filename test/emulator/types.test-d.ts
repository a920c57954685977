/** What must compile and what must not; checked by `npm run typecheck`, never run. */
import { Client } from "../../src/client/index.ts";
import type {
  Emulator,
  EmulatorOptions,
  Fault,
  OperationName,
  RecordedRequest,
  ResolvedConventions,
} from "../../src/testing/index.ts";
import { createEmulator, resolveConventions } from "../../src/testing/index.ts";
import type { RunningEmulator, StartOptions } from "../../src/testing/node.ts";

// Every optional property accepts undefined.
export const options: EmulatorOptions = {
  projects: undefined,
  sessionsPerProject: undefined,
  permissions: undefined,
  rateLimit: { limit: 1, windowMs: undefined },
  now: undefined,
  random: undefined,
  baseUrl: undefined,
  tokenPrefix: undefined,
  sessionStates: undefined,
  listIssues: undefined,
  conventions: {
    refusals: { unknownToken: { status: undefined }, revokedToken: undefined },
    successStatus: { "issues.list": undefined },
    extraFields: { project: undefined },
    rateLimitHeaders: { limit: null, remaining: undefined },
    cors: { allowOrigin: null, exposeHeaders: undefined },
    endOfList: undefined,
    retryAfter: null,
  },
  logLimit: undefined,
  onRequest: undefined,
};
export const startOptions: StartOptions = {
  ...options,
  port: undefined,
  allowedHosts: undefined,
};
export const fault: Fault = { operation: undefined, times: Infinity, status: undefined, drop: undefined, delayMs: 1 };

// Conventions may be what a JSON file holds, and are filled in.
export const resolved: ResolvedConventions = resolveConventions(JSON.parse("{}"));
export const ceiling: string | null = resolved.rateLimitHeaders.limit;
// @ts-expect-error there is no such way to end a list
createEmulator({ conventions: { endOfList: "none" } });

// The client takes the connection as it is, or spread.
export const client: Client = new Client(createEmulator().clientOptions);
export const clientWithLogger: Client = new Client({ ...createEmulator().clientOptions, timeoutMs: 1_000 });
export const byUrl: (url: string, init: RequestInit) => Promise<Response> = createEmulator().fetch;

// `emulator.fetch` is a fetch.
const emulator: Emulator = createEmulator();
export const fetch: typeof globalThis.fetch = emulator.fetch;

// A transform may spread the body without a cast.
emulator.fault({ transform: (body) => ({ ...body, next_cursor: 7 }) });

// Operations have names, in the log as well.
export const operation = (request: RecordedRequest): OperationName | undefined => request.operation;
// @ts-expect-error the API documentation has no such operation
emulator.fault({ operation: "projects.get", status: 500 });
// @ts-expect-error there is no such option
createEmulator({ project: 3 });
// @ts-expect-error the log is not the caller's to write
emulator.requests = [];
// @ts-expect-error a token is created with scopes, if with none
emulator.createToken({});

// A running emulator is disposable where the library knows of that.
export async function use(running: RunningEmulator): Promise<void> {
  await using scoped = running;
  await scoped.close();
}
