/** A program that uses every entry point that needs no other package, and most of the public types. It declares a field of its own. */
import {
  type AnyAutomationError,
  type ApiPromise,
  type CallOptions,
  Client,
  type ClientEvent,
  type ClientOptions,
  type CreatedToken,
  type CustomRequest,
  type Issue,
  impliesScope,
  isAutomationError,
  type Logger,
  memoryRateLimiter,
  missingScopes,
  NotFoundError,
  type Page,
  type Paginator,
  type Path,
  type Project,
  path,
  RateLimitError,
  type RateLimiter,
  type RateLimitSnapshot,
  type RotatingToken,
  rotatingToken,
  SCOPES,
  type Scope,
  type Session,
  type StandardSchema,
  type TokenProvider,
  VERSION,
  type WithResponse,
} from "project-automation";
import { createEmulator, type Emulator, type EmulatorOptions, type Fault } from "project-automation/testing";
import { type RunningEmulator, type StartOptions, startEmulator } from "project-automation/testing/node";

declare module "project-automation" {
  interface Project {
    team?: string | undefined;
  }
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_ extends true>(): void => undefined;

const provider: TokenProvider = async ({ signal, rejected }) => (signal.aborted ? "none" : (rejected ?? "some"));
const rateLimiter: RateLimiter = memoryRateLimiter();
const logger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const listen = (event: ClientEvent): string => (event.type === "retry" ? event.reason : event.callId);
const options: ClientOptions = { token: provider, rateLimiter, logger, onEvent: listen, headers: { "x-team": "web" } };
const call: CallOptions = { timeoutMs: false, onResponse: ({ headers }) => headers.get("x-request-id") };
const token: RotatingToken = rotatingToken({
  token: { id: "t", plaintext: "a", expires_at: "2030-01-01T00:00:00Z" },
  onRotated: () => {},
});

async function use(client: Client, emulator: Emulator): Promise<unknown[]> {
  const projects: Paginator<Project> = client.projects.list({ limit: 10 }, { prefetch: true });
  const results: unknown[] = [VERSION, emulator.requests.length];
  for await (const project of projects) results.push(project.name, project.team);
  for await (const page of projects.pages()) holds<Same<typeof page, Page<Project>>>();
  const first: Project[] = await projects.toArray({ max: 1 });
  const issue: Issue = await client.issues.create(first[0] ?? "web", { title: "It broke", type: "bug" }, call);
  const session: Session = await client.sessions.waitFor("s", { until: ({ state }) => state === "done" });
  for await (const { state } of client.sessions.watch("s", { intervalMs: 5 })) results.push(state);
  const created: CreatedToken = await client.tokens.create({ name: "ci", scopes: SCOPES });
  const next: CreatedToken = await client.tokens.rotate(created.id, { adopt: true });
  await client.tokens.revoke(next.id);
  const where: Path = path`/projects/${"web"}/issues`;
  const request: CustomRequest<Page<Issue>> = { method: "GET", path: where, schema };
  const unchecked: unknown = await client.request(request);
  const issues: Page<Issue> = await client.request({ method: "GET", path: where, schema });
  const anything: unknown = await client.request({ method: "GET", path: where });
  const sent: ApiPromise<Session> = client.sessions.get("s", call);
  const { data, response }: WithResponse<Session> = await sent.withResponse();
  holds<Same<typeof data, Session>>();
  results.push(`${response.status} ${response.headers.get("ratelimit-remaining")} ${response.requestId}`);
  const limit: RateLimitSnapshot | undefined = client.rateLimit;
  return [...results, issue, session, issues.next_cursor, unchecked, anything, limit?.remaining];
}

function tell(error: unknown): string {
  if (error instanceof RateLimitError) return `${error.retryAfterMs} ${error.limit}`;
  if (error instanceof NotFoundError) holds<Same<typeof error.kind, "not_found">>();
  if (!isAutomationError(error)) throw error;
  holds<Same<typeof error, AnyAutomationError>>();
  switch (error.kind) {
    case "timeout":
      return error.phase;
    case "validation":
      return error.issues.map(({ message }) => message).join();
    case "connection":
      return error.platformCode ?? error.outcome ?? "";
    default:
      return error.message;
  }
}

declare const schema: StandardSchema<Page<Issue>>;
holds<Same<(typeof SCOPES)["length"], 13>>();
holds<Same<keyof Project, "id" | "name" | "team">>();
holds<Same<keyof Session, "id" | "state">>();

export async function main(): Promise<unknown> {
  const held: Scope[] = ["projects:read"];
  const emulatorOptions: EmulatorOptions = { projects: [{ name: "web" }], rateLimit: false };
  const fault: Fault = { operation: "issues.create", drop: "after" };
  const startOptions: StartOptions = { ...emulatorOptions, port: 0 };
  const emulator = createEmulator(emulatorOptions);
  emulator.fault(fault).remove();
  const client = new Client({ ...options, baseUrl: emulator.baseUrl, token, fetch: emulator.fetch });
  const running: RunningEmulator = await startEmulator(startOptions);
  await running.close();
  const results = await use(client.withOptions({ retry: false }), emulator).catch(tell);
  return [results, impliesScope("projects:admin", "projects:read"), missingScopes(held, ["issues:read"])];
}

export function refused(client: Client, emulator: Emulator): unknown {
  return [
    // @ts-expect-error sessions have no write
    client.tokens.create({ name: "n", scopes: ["sessions:write"] }),
    // @ts-expect-error nor is it a scope by itself
    "sessions:write" satisfies Scope,
    // @ts-expect-error a plain string is no path
    client.request({ method: "GET", path: "/projects" }),
    // @ts-expect-error nor an object of its looks
    client.paginate({ path: { template: "/projects" }, schema }),
    // @ts-expect-error without a schema, items are unknown
    client.paginate<Project>({ path: path`/projects` }),
    // @ts-expect-error null is not undefined
    client.projects.list({ cursor: null }),
    // @ts-expect-error there is no such option
    new Client({ baseURL: "https://automation.example.com" }),
    // @ts-expect-error a walk is no promise
    client.projects.list().then(() => {}),
    // @ts-expect-error the contract has no such operation
    emulator.fault({ operation: "projects.get" }),
    // @ts-expect-error models are closed
    (project: Project) => project.nmae,
    // @ts-expect-error an error has no such kind
    (error: AnyAutomationError) => error.kind === "timed_out",
  ];
}
