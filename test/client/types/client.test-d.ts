import { type } from "arktype";
import * as v from "valibot";
import { expectTypeOf, test } from "vitest";
import * as z from "zod";
import {
  type AnyAutomationError,
  type ApiPromise,
  type ApiResponse,
  type CallOptions,
  type Client,
  type ClientEvent,
  type ClientOptions,
  type CreatedToken,
  type CustomRequest,
  type Issue,
  isScope,
  type Page,
  type Paginator,
  type Project,
  path,
  type RateLimitSnapshot,
  SCOPES,
  type Scope,
  type Session,
  type WithResponse,
} from "../../../src/client/index.ts";
import { ProjectSchema, pageOf } from "../../../src/service/schemas/index.ts";

declare const client: Client;

test("methods resolve what the service sends", () => {
  expectTypeOf(client.tokens.create).returns.resolves.toEqualTypeOf<CreatedToken>();
  expectTypeOf(client.tokens.rotate).returns.resolves.toEqualTypeOf<CreatedToken>();
  expectTypeOf(client.tokens.revoke).returns.resolves.toEqualTypeOf<void>();
  expectTypeOf(client.projects.list).returns.toEqualTypeOf<Paginator<Project>>();
  expectTypeOf(client.issues.create).returns.resolves.toEqualTypeOf<Issue>();
  expectTypeOf(client.sessions.list).returns.toEqualTypeOf<Paginator<Session>>();
  expectTypeOf(client.sessions.get).returns.resolves.toEqualTypeOf<Session>();
  expectTypeOf(client.sessions.waitFor).returns.toEqualTypeOf<Promise<Session>>();
  expectTypeOf(client.sessions.watch).returns.toExtend<AsyncIterable<Session>>();
  expectTypeOf(client.rateLimit).toEqualTypeOf<RateLimitSnapshot | undefined>();
});

test("a call that sends one request has its response, too", () => {
  expectTypeOf(client.tokens.create).returns.toEqualTypeOf<ApiPromise<CreatedToken>>();
  expectTypeOf(client.tokens.rotate).returns.toEqualTypeOf<ApiPromise<CreatedToken>>();
  expectTypeOf(client.tokens.revoke).returns.toEqualTypeOf<ApiPromise<void>>();
  expectTypeOf(client.issues.create).returns.toEqualTypeOf<ApiPromise<Issue>>();
  expectTypeOf(client.sessions.get).returns.toEqualTypeOf<ApiPromise<Session>>();
  expectTypeOf(client.projects.list().page()).toEqualTypeOf<ApiPromise<Page<Project>>>();
  expectTypeOf(client.request({ method: "GET", path: path`/x` })).toEqualTypeOf<ApiPromise<unknown>>();
  expectTypeOf(client.sessions.get("s").withResponse()).resolves.toEqualTypeOf<WithResponse<Session>>();
  expectTypeOf<WithResponse<Session>["data"]>().toEqualTypeOf<Session>();
  expectTypeOf<ApiResponse["headers"]>().toEqualTypeOf<Headers>();
  expectTypeOf<ApiResponse["requestId"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Awaited<ApiPromise<Session>>>().toEqualTypeOf<Session>();
  expectTypeOf(client.sessions.get("s").catch(() => "none")).toEqualTypeOf<Promise<Session | string>>();
  expectTypeOf(client.sessions.waitFor).returns.not.toHaveProperty("withResponse"); // it is many requests
});

test("a list is no promise, and is walked by item, by page, or into an array", () => {
  const list = client.projects.list();
  expectTypeOf(list).not.toExtend<PromiseLike<unknown>>();
  expectTypeOf(list).toExtend<AsyncIterable<Project>>();
  expectTypeOf(list.pages()).toExtend<AsyncIterable<Page<Project>>>();
  expectTypeOf(list.toArray({ max: 5 })).resolves.toEqualTypeOf<Project[]>();
  expectTypeOf<Page<Project>["next_cursor"]>().toEqualTypeOf<string | null>();
});

test("what walks and watches can be left by await using", async () => {
  await using items = client.projects.list()[Symbol.asyncIterator]();
  await using pages = client.projects.list().pages();
  await using changes = client.sessions.watch("s");
  expectTypeOf(items.next()).resolves.toEqualTypeOf<IteratorResult<Project, void>>();
  expectTypeOf(pages.next()).resolves.toEqualTypeOf<IteratorResult<Page<Project>, void>>();
  expectTypeOf(changes.next()).resolves.toEqualTypeOf<IteratorResult<Session, void>>();
});

test("scopes are the thirteen of the table", () => {
  expectTypeOf<Scope>().toEqualTypeOf<(typeof SCOPES)[number]>();
  expectTypeOf<(typeof SCOPES)["length"]>().toEqualTypeOf<13>();
  void (() => client.tokens.create({ name: "n", scopes: ["issues:write", "sessions:read"] }));
  void (() => client.tokens.create({ name: "n", scopes: SCOPES }));
  // @ts-expect-error sessions have no write
  void (() => client.tokens.create({ name: "n", scopes: ["sessions:write"] }));
  // @ts-expect-error nor is any string a scope
  void (() => client.tokens.create({ name: "n", scopes: ["issues"] }));
  expectTypeOf(SCOPES).not.toHaveProperty("push");
});

test("what is missing or misspelt does not compile", () => {
  // @ts-expect-error options are the last argument
  void (() => client.sessions.get("s", {}, {}));
  // @ts-expect-error a page is asked for by the cursor of its list
  void (() => client.projects.list().page(2));
  // @ts-expect-error a title is required
  void (() => client.issues.create("p", { type: "bug" }));
  // @ts-expect-error a type is required
  void (() => client.issues.create("p", { title: "t" }));
  // @ts-expect-error a name is required
  void (() => client.tokens.create({ scopes: [] }));
  // @ts-expect-error wire names are kept
  void (() => client.tokens.create({ name: "n", scopes: [], expiresInDays: 5 }));
  // @ts-expect-error null is not undefined
  void (() => client.projects.list({ cursor: null }));
  // @ts-expect-error a limit is a number
  void (() => client.projects.list({ limit: "5" }));
  // @ts-expect-error waitFor needs `until`
  void (() => client.sessions.waitFor("s", {}));
  // @ts-expect-error rotate adopts by a boolean
  void (() => client.tokens.rotate("t", { adopt: "yes" }));
  // @ts-expect-error an option that is none
  void (() => client.sessions.get("s", { timeout: 5 }));
});

test("a project is a name, an id, or a project", () => {
  void (() => client.sessions.list("p"));
  void (() => client.sessions.list({ id: "p" }));
  void (async () => {
    for await (const project of client.projects.list()) client.sessions.list(project);
  });
  // @ts-expect-error no number
  void (() => client.sessions.list(5));
});

test("the escape hatch takes its output's type from the schema, and is unknown without one", () => {
  const get = { method: "GET", path: path`/x/${"a"}` } as const;
  expectTypeOf(client.request(get)).resolves.toEqualTypeOf<unknown>();
  expectTypeOf(client.request({ ...get, schema: ProjectSchema })).resolves.toExtend<Project>();
  expectTypeOf(client.request({ ...get, schema: pageOf(ProjectSchema) })).resolves.toExtend<Page<Project>>();
  expectTypeOf(client.request({ ...get, schema: z.object({ a: z.string() }) })).resolves.toEqualTypeOf<{ a: string }>();
  expectTypeOf(client.request({ ...get, schema: z.string().transform(Number) })).resolves.toEqualTypeOf<number>();
  expectTypeOf(client.request({ ...get, schema: v.object({ a: v.number() }) })).resolves.toEqualTypeOf<{ a: number }>();
  expectTypeOf(client.request({ ...get, schema: type({ a: "string" }) })).resolves.toEqualTypeOf<{ a: string }>();
  expectTypeOf(client.paginate({ path: path`/x`, schema: z.object({ a: z.string() }) })).toEqualTypeOf<
    Paginator<{ a: string }>
  >();
  expectTypeOf(client.paginate({ path: path`/x`, schema: v.pipe(v.string(), v.transform(Number)) })).toEqualTypeOf<
    Paginator<number>
  >();
  // @ts-expect-error without a schema nothing tells that it is one
  void (() => client.request<Project>(get));
  const asProject: CustomRequest<Project> = { ...get, schema: ProjectSchema };
  expectTypeOf(client.request(asProject)).resolves.toEqualTypeOf<unknown>();
  // @ts-expect-error a plain string is no path
  void (() => client.request({ method: "GET", path: "/x" }));
  // @ts-expect-error nor is an object of its looks
  void (() => client.request({ method: "GET", path: { template: "/x" } }));
  expectTypeOf(client.paginate({ path: path`/x` })).toEqualTypeOf<Paginator<unknown>>();
  expectTypeOf(client.paginate({ path: path`/x`, schema: undefined })).toEqualTypeOf<Paginator<unknown>>();
  // @ts-expect-error without a schema nothing tells that its items are projects
  void (() => client.paginate<Project>({ path: path`/x` }));
  // @ts-expect-error nor does the type that is wanted
  void ((): Paginator<Project> => client.paginate({ path: path`/x` }));
  // @ts-expect-error values of a path are strings
  void (() => path`/x/${5}`);
  // @ts-expect-error a method that the client does not send
  void (() => client.request({ method: "TRACE", path: path`/x` }));
});

test("what may have no body resolves undefined, too", () => {
  const x = { path: path`/x` };
  const schema = z.object({ gone: z.boolean() });
  expectTypeOf(client.request({ ...x, method: "DELETE", schema })).resolves.toEqualTypeOf<
    { gone: boolean } | undefined
  >();
  expectTypeOf(client.request({ ...x, method: "DELETE" })).resolves.toEqualTypeOf<unknown>();
  expectTypeOf(client.request({ ...x, method: "HEAD" })).resolves.toEqualTypeOf<unknown>();
  // A HEAD with a schema is an ArgumentError: its type promises nothing.
  expectTypeOf(client.request({ ...x, method: "HEAD", schema })).resolves.toEqualTypeOf<unknown>();
  expectTypeOf(client.request({ ...x, method: "POST", json: {}, schema })).resolves.toEqualTypeOf<{ gone: boolean }>();
});

test("one page is a promise", () => {
  expectTypeOf(client.projects.list({ cursor: "c" }).page()).resolves.toEqualTypeOf<Page<Project>>();
});

test("a string is narrowed to a scope", () => {
  const wanted: string = "issues:write";
  if (isScope(wanted)) expectTypeOf(wanted).toEqualTypeOf<Scope>();
  expectTypeOf(["issues:write", "x"].filter(isScope)).toEqualTypeOf<Scope[]>();
});

test("every error may carry the session of a wait", () => {
  expectTypeOf<AnyAutomationError["session"]>().toEqualTypeOf<Session | undefined>();
});

test("every optional property and parameter accepts undefined, but for the address and the token of a client", () => {
  type Undefinable<Options> = { [Key in keyof Options as undefined extends Options[Key] ? Key : never]: undefined };
  expectTypeOf<Undefinable<Omit<ClientOptions, "baseUrl" | "token">>>().toExtend<ClientOptions>();
  expectTypeOf<Record<Exclude<keyof ClientOptions, "baseUrl" | "token">, undefined>>().toExtend<ClientOptions>();
  // @ts-expect-error an address that is not set is none that was left out
  void (() => new Client({ baseUrl: process.env["STAGING_URL"] }));
  // @ts-expect-error nor is a token
  void (() => new Client({ token: process.env["STAGING_TOKEN"] }));
  // @ts-expect-error the address of a derived client
  void (() => client.withOptions({ baseUrl: undefined }));
  // @ts-expect-error the token of a derived client
  void (() => client.withOptions({ token: undefined }));
  expectTypeOf<Record<keyof CallOptions, undefined>>().toExtend<CallOptions>();
  void (() =>
    client.projects.list({ limit: undefined, cursor: undefined }, { prefetch: undefined, signal: undefined }));
  void (() => client.projects.list(undefined, undefined).toArray({ max: undefined }));
  void (() => client.projects.list().toArray(undefined));
  void (() => client.tokens.create({ name: "n", scopes: [], expires_in_days: undefined }, undefined));
  void (() => client.tokens.rotate("t", { adopt: undefined, retry: undefined }));
  void (() => client.tokens.revoke("t", undefined));
  void (() => client.sessions.waitFor("s", { until: () => true, intervalMs: undefined, maxIntervalMs: undefined }));
  void (() => client.sessions.watch("s", undefined));
  void (() => client.request({ method: "GET", path: path`/x`, query: undefined, json: undefined }, undefined));
  void (() => client.request({ method: "GET", path: path`/x`, query: { a: undefined } }));
  void (() => client.paginate({ path: path`/x`, query: undefined, schema: ProjectSchema }, undefined));
  void (() => client.withOptions({ retry: { attempts: undefined, unsafeWrites: undefined } }));
});

test("resuming from an error's cursor compiles as the documentation shows it", () => {
  const error: { readonly cursor?: string | null } = {};
  void (() => client.projects.list({ cursor: error.cursor ?? undefined }));
});

test("console is a logger, and events are distinguished by type", () => {
  const options: ClientOptions = { logger: console };
  expectTypeOf(options).toExtend<ClientOptions>();
  const listen = (event: ClientEvent): void => {
    if (event.type === "retry") expectTypeOf(event.delayMs).toEqualTypeOf<number>();
    if (event.type === "response") expectTypeOf(event.status).toEqualTypeOf<number>();
    expectTypeOf(event.callId).toEqualTypeOf<string>();
  };
  expectTypeOf(listen).toExtend<NonNullable<ClientOptions["onEvent"]>>();
});

test("onRequest returns nothing, since the client would not look at it", () => {
  const options = (one: CallOptions): CallOptions => one;
  options({ onRequest: () => {} });
  options({ onRequest: async () => {} });
  options({ onRequest: ({ attempt }) => void attempt });
  // @ts-expect-error -- it does not stop the request
  options({ onRequest: () => false });
  // @ts-expect-error -- it does not stop the request
  options({ onRequest: async () => false });
  // @ts-expect-error -- it adds no headers
  options({ onRequest: () => ({ headers: { "x-a": "1" } }) });
  // @ts-expect-error -- it adds no headers
  options({ onRequest: async () => ({ headers: { "x-a": "1" } }) });
  options({ onResponse: () => false });
});
