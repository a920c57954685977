import type { OperationName, ResolvedConventions } from "./conventions.ts";
import type { Cursors } from "./cursor.ts";
import type { Fault } from "./faults.ts";
import { readCount, readLimit, readObject, readString, readStrings } from "./fields.ts";
import type { Slice } from "./ordered-rows.ts";
import { Refusal } from "./refusal.ts";
import type { EmulatorIssue, EmulatorProject, EmulatorSession, Store } from "./store.ts";
import type { TokenRow, Tokens } from "./tokens.ts";
import { maskedToken, wouldEscalate } from "./tokens.ts";

/** What an operation works with. */
export interface Call {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly cursors: Cursors;
  readonly conventions: ResolvedConventions;
  readonly caller: TokenRow;
  readonly now: number;
  /** The values of the path, decoded, in order. */
  readonly values: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Uint8Array | undefined;
  readonly page: Fault["page"];
}

/** One row of the contract's endpoint table. */
export interface Operation {
  readonly name: OperationName;
  readonly method: string;
  /** Path segments; `{}` stands for a value. */
  readonly pattern: readonly string[];
  /** Without one, any scope will do. */
  readonly scope?: string;
  /** Carries the operation out and gives the response body; throws a `Refusal`, with nothing changed. */
  readonly run: (call: Call) => unknown;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The endpoints of the contract (section 4), complete. */
export const OPERATIONS: readonly Operation[] = [
  { name: "tokens.create", method: "POST", pattern: ["me", "tokens"], run: createToken },
  { name: "tokens.rotate", method: "POST", pattern: ["me", "tokens", "{}", "rotate"], run: rotateToken },
  { name: "tokens.revoke", method: "DELETE", pattern: ["me", "tokens", "{}"], run: revokeToken },
  { name: "projects.list", method: "GET", pattern: ["projects"], scope: "projects:read", run: listProjects },
  {
    name: "issues.create",
    method: "POST",
    pattern: ["projects", "{}", "issues"],
    scope: "issues:write",
    run: createIssue,
  },
  {
    name: "sessions.list",
    method: "GET",
    pattern: ["projects", "{}", "sessions"],
    scope: "sessions:read",
    run: listSessions,
  },
  { name: "sessions.get", method: "GET", pattern: ["sessions", "{}"], scope: "sessions:read", run: getSession },
];

function createToken(call: Call): unknown {
  const { caller, conventions, now, tokens } = call;
  const body = readObject(call.body);
  const name = readString(body, "name");
  const scopes = readStrings(body, "scopes");
  const days = readCount(body, "expires_in_days", conventions.maxTokenLifetimeDays) ?? conventions.tokenLifetimeDays;
  refuseEscalation(tokens.missing(caller, scopes));
  const created = tokens.create({ name, scopes, owner: caller.owner, lifetimeMs: days * DAY_MS }, now);
  return { ...tokenRecord(call, created.row), plaintext: created.plaintext };
}

function rotateToken(call: Call): unknown {
  const target = activeToken(call);
  if (wouldEscalate(call.caller, target)) refuseEscalation(target.scopes);
  const created = call.tokens.rotate(target, call.now);
  return { ...tokenRecord(call, created.row), plaintext: created.plaintext };
}

function revokeToken(call: Call): unknown {
  const target = activeToken(call);
  target.revoked = true;
  return tokenRecord(call, target);
}

function listProjects(call: Call): unknown {
  return page(call, { list: "projects", slice: (after, limit) => call.store.projectSlice(after, limit) }, (project) =>
    projectRecord(call, project),
  );
}

function createIssue(call: Call): unknown {
  const project = addressedProject(call);
  const body = readObject(call.body);
  const title = readString(body, "title");
  const type = readString(body, "type");
  const types = call.conventions.issueTypes;
  if (types !== undefined && !types.includes(type)) {
    throw new Refusal("invalidField", `type must be one of ${types.join(", ")}`);
  }
  return issueRecord(call, call.store.createIssue(project.id, { title, type }));
}

function listSessions(call: Call): unknown {
  const { id } = addressedProject(call);
  const slice = (after: number, limit: number): Slice<EmulatorSession> => call.store.sessionSlice(id, { after, limit });
  return page(call, { list: `sessions of ${id}`, slice }, (session) => sessionRecord(call, session));
}

function getSession(call: Call): unknown {
  const session = call.store.findSession(call.values[0] ?? "");
  if (session === undefined) throw new Refusal("unknownSession", "there is no such session");
  return sessionRecord(call, session);
}

interface Listing<Row> {
  readonly list: string;
  readonly slice: (after: number, limit: number) => Slice<Row>;
}

function page<Row>(call: Call, listing: Listing<Row>, record: (row: Row) => unknown): unknown {
  const limit = readLimit(call.query);
  const cursor = call.query.get("cursor");
  const after = cursor === null ? 0 : call.cursors.read(listing.list, cursor);
  if (after === undefined) throw new Refusal("invalidCursor", "the cursor was not issued for this list");
  const { rows, next } = listing.slice(after, limit);
  const extra = call.conventions.extraFields.page;
  if (call.page === "empty") {
    return { ...extra, data: [], next_cursor: call.cursors.issueAnother(listing.list, after) };
  }
  const position = call.page === "loop" ? after : next;
  const nextCursor = position === undefined ? null : call.cursors.issue(listing.list, position);
  return { ...extra, data: rows.map(record), next_cursor: nextCursor };
}

function addressedProject(call: Call): EmulatorProject {
  const project = call.store.findProject(call.values[0] ?? "");
  if (project === undefined) throw new Refusal("unknownProject", "there is no such project");
  return project;
}

/** Only what is active can be rotated or revoked, and only by a token of the same owner. */
function activeToken(call: Call): TokenRow {
  const target = call.tokens.find(call.values[0] ?? "");
  const reachable = target?.owner === call.caller.owner && call.tokens.stateOf(target, call.now) === "active";
  if (target === undefined || !reachable) throw new Refusal("unknownTokenRecord", "there is no such active token");
  return target;
}

function refuseEscalation(missing: readonly string[]): void {
  if (missing.length === 0) return;
  throw new Refusal("scopeEscalation", "a token cannot be given a scope that its creator does not hold");
}

function tokenRecord(call: Call, row: TokenRow): Record<string, unknown> {
  const { id, name, key_id, scopes, expires_at } = maskedToken(row, "active");
  return { ...call.conventions.extraFields.token, id, name, key_id, scopes, expires_at };
}

function projectRecord(call: Call, { id, name }: EmulatorProject): Record<string, unknown> {
  return { ...call.conventions.extraFields.project, id, name };
}

function issueRecord(call: Call, { number, title, type, status }: EmulatorIssue): Record<string, unknown> {
  return { ...call.conventions.extraFields.issue, number, title, type, status };
}

function sessionRecord(call: Call, { id, state }: EmulatorSession): Record<string, unknown> {
  return { ...call.conventions.extraFields.session, id, state };
}
