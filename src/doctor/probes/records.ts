import { CreatedTokenSchema, IssueSchema, ProjectSchema, SessionSchema } from "../../schemas/index.ts";
import { isPromise, type StandardSchema } from "../../schemas/standard-schema.ts";
import type { ExtendedRecord } from "../../testing/conventions.ts";
import { agrees, contradicts, differs, type Finding, type Probe, probe, unasked } from "../probe.ts";
import { fieldsOf, isSuccess, outlineOf, pageOf } from "../reading.ts";
import type { Step } from "../step.ts";
import { ISSUES, LARGEST_PAGE, SESSION, SESSIONS } from "../steps.ts";
import { CREATED } from "../token-steps.ts";
import type { Reply } from "../wire.ts";

/** A kind of record, and where the doctor sees some. */
interface RecordRow {
  readonly record: ExtendedRecord;
  readonly step: Step;
  /** What the client checks. Its shape is the table of the contract. */
  readonly schema: StandardSchema & { readonly shape: object };
}

const ROWS: readonly RecordRow[] = [
  { record: "project", step: LARGEST_PAGE, schema: ProjectSchema },
  { record: "session", step: SESSIONS, schema: SessionSchema },
  { record: "issue", step: ISSUES, schema: IssueSchema },
  { record: "token", step: CREATED, schema: CreatedTokenSchema },
];

function fieldNamesOf({ schema }: RecordRow): string[] {
  return Object.keys(schema.shape);
}

/** The items of a list, or the one record of any other response; nothing, of a refusal. */
function recordsOf(reply: Reply): readonly unknown[] | undefined {
  if (!isSuccess(reply) || reply.json === undefined) return undefined;
  return pageOf(reply)?.data ?? ("data" in fieldsOf(reply.json) ? undefined : [reply.json]);
}

/** The fields of the contract that a record has not, or not in the right type. */
function flawsOf(schema: StandardSchema, record: unknown): string[] {
  const result = schema["~standard"].validate(record);
  if (isPromise(result) || result.issues === undefined) return [];
  return result.issues.map(({ path: [key = "the whole record"] = [] }) =>
    String(typeof key === "object" ? key.key : key),
  );
}

function judgeRecords(row: RecordRow, reply: Reply): Finding {
  const records = recordsOf(reply);
  if (records === undefined) return unasked(`no records: ${outlineOf(reply)}`);
  if (records.length === 0) return unasked("there are none");
  const flaws = records.map((record) => flawsOf(row.schema, record));
  const counted = new Map<string, number>();
  for (const field of flaws.flatMap((names) => [...new Set(names)])) counted.set(field, (counted.get(field) ?? 0) + 1);
  if (counted.size === 0) return agrees(`${fieldNamesOf(row).join(", ")} in each of ${records.length}`);
  const told = [...counted].map(([field, count]) => `${count} of ${records.length} without a valid ${field}`);
  return contradicts(told.join("; "));
}

function judgeExtraFields(row: RecordRow, reply: Reply): Finding {
  const known = fieldNamesOf(row);
  const [first] = recordsOf(reply) ?? [];
  if (first === undefined) return unasked(`no record: ${outlineOf(reply)}`);
  const extra = Object.fromEntries(Object.entries(fieldsOf(first)).filter(([name]) => !known.includes(name)));
  const told = Object.entries(extra).map(([name, value]) => `${name} (${typeOf(value)})`);
  const conventions = { extraFields: { [row.record]: extra } };
  return told.length === 0 ? agrees("none", conventions) : differs(told.join(", "), conventions);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function recordProbes(row: RecordRow): Probe[] {
  const { record, step } = row;
  const asks = { reply: step };
  return [
    probe({
      id: `record-${record}`,
      question: `Does each ${record} have the fields of the contract?`,
      about: `contract 2: fields of ${record === "token" ? "an API token record" : record}`,
      assumes: fieldNamesOf(row).join(", "),
      asks,
      judge: ({ reply }) => judgeRecords(row, reply),
    }),
    probe({
      id: `fields-${record}`,
      question: `Which other fields does ${record === "issue" ? "an" : "a"} ${record} have?`,
      about: `contract 2: fields not shown; convention extraFields.${record}`,
      assumes: "none",
      asks,
      judge: ({ reply }) => judgeExtraFields(row, reply),
    }),
  ];
}

function judgeSession({ session }: Readonly<Record<"session", Reply>>): Finding {
  const { status } = session;
  const flaws = flawsOf(SessionSchema, session.json);
  if (!isSuccess(session) || flaws.length > 0) {
    return contradicts(flaws.length > 0 ? `${outlineOf(session)} without a valid ${flaws[0]}` : outlineOf(session));
  }
  const conventions = { successStatus: { "sessions.get": status } };
  return (status === 200 ? agrees : differs)(`${status}, a session`, conventions);
}

/** What a field of records holds, and the convention for the value of a new record: the first one that is listed. */
interface StateRow {
  readonly field: "state" | "status";
  readonly convention: "sessionState" | "issueStatus";
  readonly usual: string;
}

function judgeStates({ field, convention, usual }: StateRow, reply: Reply): Finding {
  const states = (recordsOf(reply) ?? [])
    .map((record) => fieldsOf(record)[field])
    .filter((state) => typeof state === "string" && state !== "");
  const [first] = states;
  if (first === undefined) return unasked(`none was listed: ${outlineOf(reply)}`);
  const seen = [...new Set(states)].slice(0, 10).join(", ");
  return (seen === usual ? agrees : differs)(seen, { [convention]: first });
}

/** What records look like. */
export const RECORD_PROBES: readonly Probe[] = [
  ...ROWS.flatMap(recordProbes),
  probe({
    id: "session-get",
    question: "Does GET /sessions/{id} return the session?",
    about: "contract 4: GET /sessions/{id}; convention successStatus.sessions.get",
    assumes: "200",
    asks: { session: SESSION },
    judge: judgeSession,
  }),
  probe({
    id: "session-states",
    question: "Which states do sessions have?",
    about: 'contract 3: "Session state values and transitions: not shown."; convention sessionState',
    assumes: "running",
    asks: { reply: SESSIONS },
    judge: ({ reply }) => judgeStates({ field: "state", convention: "sessionState", usual: "running" }, reply),
  }),
  probe({
    id: "issue-statuses",
    question: "Which statuses do issues have?",
    about: 'contract 3: "Issue status values and transitions: not shown."; convention issueStatus',
    assumes: "open",
    asks: { reply: ISSUES },
    judge: ({ reply }) => judgeStates({ field: "status", convention: "issueStatus", usual: "open" }, reply),
  }),
];
