import { SCOPES } from "../service/scopes.ts";
import type { Cursors } from "./cursor.ts";
import type { OperationName } from "./endpoints.ts";
import type { Fault } from "./faults.ts";
import type { ResolvedOptions } from "./options.ts";
import type { OrderedRows } from "./ordered-rows.ts";
import type { IssueTable, ProjectData, ProjectStore, SessionTable } from "./project-tables.ts";
import { parseCount, parseLimit, parseObject, parseString, parseStrings, Refusal } from "./request-fields.ts";
import type { EmulatorIssue, EmulatorSession } from "./tables.ts";
import { DAY_MS, holds, maskedToken, stateOf, type TokenRow, type TokenStore } from "./token-tables.ts";

export interface Call {
  readonly store: ProjectStore;
  readonly tokens: TokenStore;
  readonly cursors: Cursors;
  readonly tables: { readonly issues: IssueTable; readonly sessions: SessionTable };
  readonly options: ResolvedOptions;
  readonly caller: TokenRow;
  readonly now: number;
  /** The values of the path, decoded, in order. */
  readonly values: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Uint8Array | undefined;
  readonly page: Fault["page"];
}

/** Carries an operation out and returns the response body; throws a `Refusal`, with nothing changed. */
type Operation = (call: Call) => object;

export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  "tokens.create": (call) => {
    const { caller, now, options, tokens } = call;
    const { maxTokenLifetimeDays, tokenLifetimeDays } = options.conventions;
    const body = parseObject(call.body);
    const name = parseString(body, "name");
    const scopes = parseStrings(body, "scopes");
    const days = parseCount(body, "expires_in_days", maxTokenLifetimeDays) ?? tokenLifetimeDays;
    refuseEscalation(tokens.missing(caller, scopes));
    const created = tokens.create({ name, scopes, owner: caller.owner, lifetimeMs: days * DAY_MS }, now);
    return { ...tokenRecord(call, created), plaintext: created.plaintext };
  },
  "tokens.rotate": (call) => {
    const target = activeToken(call);
    // Otherwise, rotating would be a way to a more powerful token.
    refuseEscalation(target.scopes.filter((scope) => !holds(call.caller.scopes, scope)));
    const created = call.tokens.rotate(target, call.now);
    return { ...tokenRecord(call, created), plaintext: created.plaintext };
  },
  "tokens.revoke": (call) => {
    const target = activeToken(call);
    target.revoked = true;
    return tokenRecord(call, target);
  },
  "projects.list": (call) => {
    const listing = { list: "projects", rows: call.store.byId };
    return page(call, listing, ({ project: { id, name } }) => record(call, "project", { id, name }));
  },
  "issues.create": (call) => {
    const { id } = addressedProject(call).project;
    const body = parseObject(call.body);
    const title = parseString(body, "title");
    const type = parseString(body, "type");
    const { issueTypes } = call.options.conventions;
    if (issueTypes !== null && !issueTypes.includes(type)) {
      throw new Refusal("invalidField", `type must be one of ${issueTypes.join(", ")}`);
    }
    return issueRecord(call, call.tables.issues.create(id, { title, type }));
  },
  "issues.list": (call) => {
    const { project, issues } = addressedProject(call);
    return page(call, { list: `issues of ${project.id}`, rows: issues }, (issue) => issueRecord(call, issue));
  },
  "sessions.list": (call) => {
    const { project, sessions } = addressedProject(call);
    return page(call, { list: `sessions of ${project.id}`, rows: sessions }, (session) => sessionRecord(call, session));
  },
  "sessions.get": (call) => {
    const session = call.store.findSession(call.values[0] ?? "");
    if (session === undefined) throw new Refusal("unknownSession", "there is no such session");
    moveOn(call, session);
    return sessionRecord(call, session);
  },
};

/** The position of a session in its `states`, which may hold a state more than once. */
const positions = new WeakMap<EmulatorSession, number>();

function moveOn({ tables }: Call, session: EmulatorSession): void {
  const { id, state, states } = session;
  const position = positions.get(session) ?? states.indexOf(state);
  const next = position === -1 ? undefined : states[position + 1];
  if (next !== undefined) positions.set(tables.sessions.update(id, { state: next }), position + 1);
}

interface Listing<Row> {
  /** The list that its cursors belong to. */
  readonly list: string;
  readonly rows: OrderedRows<Row>;
}

const END_OF_LIST = { null: { next_cursor: null }, empty: { next_cursor: "" }, missing: {} };

function page<Row>(call: Call, { list, rows: all }: Listing<Row>, toRecord: (row: Row) => object): object {
  const { cursors, query } = call;
  const { conventions } = call.options;
  const limit = parseLimit(query, conventions);
  const cursor = query.get("cursor");
  const after = cursor === null ? 0 : cursors.read(list, cursor);
  if (after === undefined) throw new Refusal("invalidCursor", "the cursor was not issued for this list");
  if (call.page === "empty") return record(call, "page", { data: [], next_cursor: cursors.issueAnother(list, after) });
  const { rows, next } = all.slice(after, limit);
  const position = call.page === "loop" ? after : next;
  const end =
    position === undefined ? END_OF_LIST[conventions.endOfList] : { next_cursor: cursors.issue(list, position) };
  return record(call, "page", { data: rows.map(toRecord), ...end });
}

function addressedProject(call: Call): ProjectData {
  const project = call.store.find(call.values[0] ?? "");
  if (project === undefined) throw new Refusal("unknownProject", "there is no such project");
  return project;
}

/** Only what is active can be rotated or revoked, and only by a token of the same owner. */
function activeToken(call: Call): TokenRow {
  const target = call.tokens.rows.get(call.values[0] ?? "");
  const isReachable = target?.owner === call.caller.owner && stateOf(target, call.now) === "active";
  if (target === undefined || !isReachable) throw new Refusal("unknownTokenRecord", "there is no such active token");
  return target;
}

const LONGEST_SCOPE = 60;

/** A token gives only scopes that it holds. `missing` are those that it was asked for and does not hold. */
function refuseEscalation([scope]: readonly string[]): void {
  if (scope === undefined) return;
  const shown = JSON.stringify(scope.slice(0, LONGEST_SCOPE));
  const isKnown = SCOPES.some((known) => known === scope);
  throw new Refusal("scopeEscalation", isKnown ? `the creator lacks the scope ${shown}` : `there is no scope ${shown}`);
}

/** The fields of the API documentation, and those that the conventions add. */
function record(call: Call, kind: "project" | "issue" | "session" | "token" | "page", fields: object): object {
  return { ...call.options.conventions.extraFields[kind], ...fields };
}

function tokenRecord(call: Call, row: TokenRow): object {
  const { id, name, key_id, scopes, expires_at } = maskedToken(row, call.now);
  return record(call, "token", { id, name, key_id, scopes, expires_at });
}

function issueRecord(call: Call, { number, title, type, status }: EmulatorIssue): object {
  return record(call, "issue", { number, title, type, status });
}

function sessionRecord(call: Call, { id, state }: EmulatorSession): object {
  return record(call, "session", { id, state });
}
