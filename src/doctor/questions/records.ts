import type { StandardSchema } from "../../core/call/standard-schema.ts";
import { fieldsOf, isPromise, isRecord } from "../../core/checks/values.ts";
import type { ExtendedRecord } from "../../emulator/conventions.ts";
import { CreatedTokenSchema, IssueSchema, ProjectSchema, SessionSchema } from "../../service/schemas/index.ts";
import type { Scope } from "../../service/scopes.ts";
import { agrees, contradicts, differs, type Finding, type Question, question, unasked } from "../question.ts";
import { errorOf, isSuccess, isWord, outlineOf, pageOf, problemOfRead } from "../reading.ts";
import type { Step } from "../step.ts";
import { ISSUES, LARGEST_PAGE, SESSION, SESSIONS } from "../steps.ts";
import { CREATED } from "../token-steps.ts";
import { labelOf, type Reply } from "../wire.ts";

/** A kind of record, and where the doctor sees some. */
interface RecordRow {
  readonly record: ExtendedRecord;
  readonly step: Step;
  /** The scope for reading them; absent where they are not listed. */
  readonly scope?: Scope;
  /** The check of the client. Its shape is the table of the API documentation. */
  readonly schema: StandardSchema & { readonly shape: object };
  /** The call that such a record is a result of. */
  readonly call: string;
}

const ROWS: readonly RecordRow[] = [
  { record: "project", step: LARGEST_PAGE, scope: "projects:read", schema: ProjectSchema, call: "projects.list()" },
  { record: "session", step: SESSIONS, scope: "sessions:read", schema: SessionSchema, call: "sessions.list()" },
  { record: "issue", step: ISSUES, scope: "issues:read", schema: IssueSchema, call: "issues.create()" },
  { record: "token", step: CREATED, schema: CreatedTokenSchema, call: "tokens.create()" },
];

function fieldNamesOf({ schema }: RecordRow): string[] {
  return Object.keys(schema.shape);
}

/** The items of a list, or the one record of any other response; nothing, of a refusal. */
function recordsOf(reply: Reply): readonly unknown[] | undefined {
  if (!isSuccess(reply) || reply.json === undefined) return undefined;
  return pageOf(reply)?.data ?? ("data" in fieldsOf(reply.json) ? undefined : [reply.json]);
}

/** The problems of a record: fields of the API documentation that it lacks, or has in another type. */
function problemsOf(schema: StandardSchema, record: unknown): string[] {
  const result = schema["~standard"].validate(record);
  if (isPromise(result) || result.issues === undefined) return [];
  const problems = result.issues.map(({ path: [key] = [] }) =>
    key === undefined ? "not an object" : `without a valid ${String(typeof key === "object" ? key.key : key)}`,
  );
  return [...new Set(problems)];
}

function whyNone(reply: Reply, scope: Scope | undefined): string {
  const problem = scope === undefined ? undefined : problemOfRead(reply, scope);
  return problem ?? (isSuccess(reply) ? "there are none" : `${labelOf(reply.request)} answered ${outlineOf(reply)}`);
}

function judgeRecords(row: RecordRow, reply: Reply): Finding {
  const records = recordsOf(reply);
  if (records === undefined || records.length === 0) return unasked(whyNone(reply, row.scope));
  const problems = records.map((record) => problemsOf(row.schema, record));
  const counted = new Map<string, number>();
  for (const problem of problems.flat()) counted.set(problem, (counted.get(problem) ?? 0) + 1);
  if (counted.size === 0) return agrees(`${fieldNamesOf(row).join(", ")} in each of ${records.length}`);
  const told = [...counted].map(([problem, count]) => `${count} of ${records.length} ${problem}`);
  return contradicts(told.join("; "), `${row.call} rejects with ResponseValidationError, unless validation is lenient`);
}

function judgeExtraFields(row: RecordRow, reply: Reply): Finding {
  const known = fieldNamesOf(row);
  const records = recordsOf(reply) ?? [];
  if (records.length === 0) return unasked(whyNone(reply, row.scope));
  // Of each field the first value that says something: which record comes first changes from night to night.
  const extra = new Map<string, unknown>();
  for (const [name, value] of records.filter(isRecord).flatMap(Object.entries<unknown>)) {
    if (!known.includes(name)) extra.set(name, extra.get(name) ?? value);
  }
  const told = [...extra].map(([name, value]) => `${name} (${typeOf(value)})`);
  const conventions = { extraFields: { [row.record]: Object.fromEntries(extra) } };
  if (told.length === 0) return agrees("none", conventions);
  return differs(told.join(", "), "nothing: they are kept; declare them by module augmentation", conventions);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function recordQuestions(row: RecordRow): Question[] {
  const { record, step } = row;
  const asks = { reply: step };
  return [
    question({
      id: `record-${record}`,
      question: `Does each ${record} have the fields of the API documentation?`,
      about: `the API documentation shows these fields of ${record === "token" ? "an API token record" : `a record of type ${record}`}`,
      assumes: fieldNamesOf(row).join(", "),
      asks,
      judge: ({ reply }) => judgeRecords(row, reply),
    }),
    question({
      id: `fields-${record}`,
      question: `Which other fields does ${record === "issue" ? "an" : "a"} ${record} have?`,
      about: `the API documentation shows no others; convention extraFields.${record}`,
      assumes: "none",
      asks,
      judge: ({ reply }) => judgeExtraFields(row, reply),
    }),
  ];
}

function judgeSession({ session }: Readonly<Record<"session", Reply>>): Finding {
  const { status } = session;
  const problems = problemsOf(SessionSchema, session.json);
  const seen = outlineOf(session);
  if (!isSuccess(session)) return contradicts(seen, `sessions.get() and waitFor() reject with ${errorOf(status)}`);
  if (session.json === undefined)
    return contradicts(seen, "sessions.get() and waitFor() reject with ResponseParseError");
  if (problems.length > 0) {
    return contradicts(
      `${seen}, ${problems.join(", ")}`,
      "sessions.get() and waitFor() reject with ResponseValidationError",
    );
  }
  const conventions = { successStatus: { "sessions.get": status } };
  if (status === 200) return agrees("200, a session", conventions);
  return differs(`${status}, a session`, "nothing: the client takes any 2xx", conventions);
}

/** A field with a state, and the convention for its value in a new record: the usual one if it is listed, else the first. */
interface StateRow {
  readonly field: "state" | "status";
  readonly convention: "sessionState" | "issueStatus";
  readonly usual: string;
  readonly scope: Scope;
}

const SESSION_STATES: StateRow = {
  field: "state",
  convention: "sessionState",
  usual: "running",
  scope: "sessions:read",
};
const ISSUE_STATUSES: StateRow = { field: "status", convention: "issueStatus", usual: "open", scope: "issues:read" };

function judgeStates({ field, convention, usual, scope }: StateRow, reply: Reply): Finding {
  const states = (recordsOf(reply) ?? [])
    .map((record) => fieldsOf(record)[field])
    .filter((state): state is string => typeof state === "string" && state !== "");
  const [first] = states;
  if (first === undefined) return unasked(whyNone(reply, scope));
  // A text of several words may be personal.
  const words = states.map((state) => (isWord(state) ? state : "a text"));
  const seen = [...new Set(words)].slice(0, 10).join(", ");
  // Records change; a new one may well be in the usual state.
  if (states.includes(usual)) return agrees(seen, { [convention]: usual });
  return differs(seen, "nothing: the client knows no states; what you compare them with does", { [convention]: first });
}

export const RECORD_QUESTIONS: readonly Question[] = [
  ...ROWS.flatMap(recordQuestions),
  question({
    id: "session-get",
    question: "Does GET /sessions/{id} return the session?",
    about: "the API documentation shows this endpoint; convention successStatus.sessions.get",
    assumes: "200",
    asks: { session: SESSION },
    judge: judgeSession,
  }),
  question({
    id: "session-states",
    question: "Which states do sessions have?",
    about: 'the API documentation says "Session state values and transitions: not shown."; convention sessionState',
    assumes: "running",
    asks: { reply: SESSIONS },
    judge: ({ reply }) => judgeStates(SESSION_STATES, reply),
  }),
  question({
    id: "issue-statuses",
    question: "Which statuses do issues have?",
    about: 'the API documentation says "Issue status values and transitions: not shown."; convention issueStatus',
    assumes: "open",
    asks: { reply: ISSUES },
    judge: ({ reply }) => judgeStates(ISSUE_STATUSES, reply),
  }),
];
