import { SCOPES, type Scope } from "../../service/scopes.ts";
import { agrees, contradicts, differs, type Finding, type Question, question, unasked } from "../question.ts";
import { errorOf, idsOf, isAbsent, isSuccess, outlineOf, pageOf, problemOfRead } from "../reading.ts";
import type { Step } from "../step.ts";
import { ISSUES, PROJECTS, SESSIONS, SESSIONS_BY_NAME } from "../steps.ts";
import type { Reply } from "../wire.ts";

/** The reads that a scope of the API documentation is needed for; the API documentation shows none for the other scopes. */
const READS: Readonly<Partial<Record<Scope, Step>>> = {
  "projects:read": PROJECTS,
  "sessions:read": SESSIONS,
  "issues:read": ISSUES,
};

function scopeQuestion(scope: Scope): Question {
  const fields = {
    id: `scope-${scope.replace(":", "-")}`,
    question: `Does the token have ${scope}?`,
    about: `the API documentation names the scope ${scope}`,
    assumes: "a list if it has, else a refusal",
  };
  const step = READS[scope];
  if (step === undefined) {
    return question({ ...fields, judge: () => unasked("the API documentation shows no endpoint that needs it") });
  }
  return question({
    ...fields,
    asks: { reply: step },
    judge: ({ reply }) => {
      const problem = problemOfRead(reply, scope);
      return problem === undefined ? agrees(`yes (${outlineOf(reply)})`) : unasked(problem);
    },
  });
}

function judgeSessions({ sessions }: Readonly<Record<"sessions", Reply>>): Finding {
  const { status } = sessions;
  const seen = outlineOf(sessions);
  if (status === 401 || status === 403) return unasked(problemOfRead(sessions, "sessions:read") ?? seen);
  if (!isSuccess(sessions)) return contradicts(seen, `sessions.list() rejects with ${errorOf(status)}`);
  const conventions = { successStatus: { "sessions.list": status } };
  if (pageOf(sessions) === undefined) {
    const so = `sessions.list() rejects with ${sessions.json === undefined ? "ResponseParseError" : "ResponseValidationError"}`;
    return contradicts(`${seen}, not a list`, so, conventions);
  }
  if (status === 200) return agrees(`${seen}, a list`, conventions);
  return differs(`${seen}, a list`, "nothing: the client takes any 2xx", conventions);
}

function judgeByName({ sessions, named }: Readonly<Record<"sessions" | "named", Reply>>): Finding {
  const [byId, byName] = [pageOf(sessions), pageOf(named)];
  const so = "pass records or ids in place of names: names lead nowhere, or to another project";
  if (byId === undefined || byName === undefined) return contradicts(outlineOf(named), so);
  const isSame = idsOf(byId.data).join() === idsOf(byName.data).join();
  return isSame ? agrees("the same sessions") : contradicts("other sessions than by id", so);
}

function judgeIssues({ issues }: Readonly<Record<"issues", Reply>>): Finding {
  const problem = problemOfRead(issues, "issues:read");
  const seen = outlineOf(issues);
  if (isAbsent(issues)) return agrees(`no: ${seen}`);
  if (problem !== undefined) return unasked(problem);
  const so = "paginate() can look for an issue before it is created again; set listIssues in the emulator";
  return differs(seen, so, { successStatus: { "issues.list": issues.status } });
}

export const SCOPE_QUESTIONS: readonly Question[] = [
  ...SCOPES.filter((scope) => scope.endsWith(":read")).map(scopeQuestion),
  question({
    id: "sessions-list",
    question: "Does GET /projects/{project}/sessions return a list?",
    about: "the API documentation shows this endpoint; convention successStatus.sessions.list",
    assumes: "200, JSON with data and next_cursor",
    asks: { sessions: SESSIONS },
    judge: judgeSessions,
  }),
  question({
    id: "project-by-name",
    question: "Can a project be addressed by its name?",
    about: 'the API documentation says "In a path, a project can be addressed by its name or by its id."',
    assumes: "the same sessions by name and by id",
    asks: { sessions: SESSIONS, named: SESSIONS_BY_NAME },
    judge: judgeByName,
  }),
  question({
    id: "issues-list",
    question: "Does GET /projects/{project}/issues exist?",
    about: "the API documentation does not show it; option listIssues of the emulator",
    assumes: "no",
    asks: { issues: ISSUES },
    judge: judgeIssues,
  }),
];
