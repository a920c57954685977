import { VERSION } from "../client/version.ts";
import { Redactor } from "../core/secrets/redact.ts";
import { Asker, type Deployment, type Surroundings } from "./ask.ts";
import { conventionsOf, type EmulatorSeed } from "./emulator-conventions.ts";
import { obstacleTo } from "./obstacle.ts";
import { type Finding, type Question, type Seen, unasked } from "./question.ts";
import { QUESTIONS } from "./questions.ts";
import { isOfService, isSuccess, outlineOf } from "./reading.ts";
import { type Report, type ReportedQuestion, type Result, verdictOf } from "./report.ts";
import type { Step } from "./step.ts";
import { CREATED, mayExist, REVOKED } from "./token-steps.ts";
import { type Answer, certificateProblem, labelOf, type Reply } from "./wire.ts";

export interface Diagnosis {
  readonly report: Report;
  /** False for a run that was stopped: its conventions describe only a part of the deployment. */
  readonly isComplete: boolean;
  /** Options that make the emulator behave like the deployment, as far as it was seen; placeholders for values of records. */
  readonly seed: EmulatorSeed;
}

const LONGEST_LINE = 300;

/** Asks a deployment every question of `asked`, and judges the answers; if it is not the service, asks none of them. */
export async function diagnose(
  deployment: Deployment,
  around: Surroundings,
  asked: readonly Question[] = QUESTIONS,
): Promise<Diagnosis> {
  const at = new Date(around.wallClock()).toISOString();
  const asker = new Asker(deployment, around);
  const obstacle = await obstacleTo(asker, deployment.baseUrl, around.ignoredProxy);
  if (obstacle === undefined) await askAll(asked, asker, deployment.write);
  const { replies } = asker;
  const redactor = new Redactor({ tokens: asker.secrets });
  const findings: Finding[] = [];
  const questions: ReportedQuestion[] = [];
  for (const one of obstacle === undefined ? asked : []) {
    const finding = judge(one, await answersTo(one, asker), { baseUrl: deployment.baseUrl, replies });
    const { id, question, about, assumes } = one;
    const [seen, so] = [finding.seen, finding.so].map((text) => text && redactor.line(text, LONGEST_LINE));
    findings.push(finding);
    questions.push({ id, verdict: finding.verdict, question, seen: seen ?? "", assumes, about, ...(so && { so }) });
  }
  const stopped = obstacle ?? asker.halted;
  const seed = {
    conventionsOf: `${deployment.baseUrl.href} on ${at.slice(0, 10)}`,
    conventions: conventionsOf(findings, redactor),
  };
  const report: Report = {
    doctor: VERSION,
    baseUrl: deployment.baseUrl.href,
    at,
    requests: replies.length,
    result: resultOf(questions, stopped !== undefined),
    verdict: redactor.line(obstacle ?? verdictOf(questions, asker.halted), LONGEST_LINE),
    tokenLeftBehind: obstacle === undefined && deployment.write && (await isLeftBehind(asker)),
    questions,
  };
  return { report, isComplete: stopped === undefined, seed };
}

async function askAll(questions: readonly Question[], asker: Asker, isWriting: boolean): Promise<void> {
  const steps = [...new Set(questions.flatMap(({ asks }) => Object.values(asks)))];
  try {
    // Writes last, so that the token that is created exists as briefly as possible.
    for (const step of steps.filter((one) => !writesFor(one))) await asker.ask(step);
    for (const step of steps.filter(writesFor)) await asker.ask(step);
  } finally {
    if (isWriting) await asker.ask(REVOKED);
  }
}

async function isLeftBehind(asker: Asker): Promise<boolean> {
  const revoked = await asker.ask(REVOKED);
  const isRevoked = revoked.kind === "response" && isSuccess(revoked) && isOfService(revoked);
  return mayExist(await asker.ask(CREATED)) && !isRevoked;
}

function writesFor(step: Step): boolean {
  return step.writes || Object.values(step.after).some(writesFor);
}

async function answersTo({ asks }: Question, asker: Asker): Promise<Readonly<Record<string, Answer>>> {
  const answers: Record<string, Answer> = {};
  for (const [name, step] of Object.entries(asks)) answers[name] = await asker.ask(step);
  return answers;
}

function judge(asked: Question, answers: Readonly<Record<string, Answer>>, { baseUrl, replies: all }: Seen): Finding {
  const mayJudge = (reply: Reply): boolean => asked.judgesPages ?? isOfService(reply);
  const replies: Record<string, Reply> = {};
  for (const [name, answer] of Object.entries(answers)) {
    if (answer.kind === "not_asked") return unasked(answer.reason);
    if (answer.kind === "failure") return unasked(certificateProblem(answer) ?? `no response: ${answer.code}`);
    if (answer.status >= 500 || !mayJudge(answer)) {
      return unasked(`${labelOf(answer.request)} answered ${outlineOf(answer)}`);
    }
    replies[name] = answer;
  }
  return asked.judge(replies, { baseUrl, replies: all.filter(mayJudge) });
}

/** A run that was stopped agrees with nothing; it may contradict. */
function resultOf(questions: readonly ReportedQuestion[], isStopped: boolean): Result {
  if (questions.some(({ verdict }) => verdict === "contradicts")) return "contradicts";
  return isStopped ? "not_asked" : "agrees";
}
