import { Redactor } from "../request/redact.ts";
import { VERSION } from "../version.ts";
import { Asker, type Deployment, type Surroundings } from "./ask.ts";
import { type EmulatorSeed, seedOf } from "./emulator-conventions.ts";
import { type Finding, type Probe, unasked } from "./probe.ts";
import { PROBES } from "./probes.ts";
import { isSuccess } from "./reading.ts";
import type { Report, Result } from "./report.ts";
import type { Step } from "./step.ts";
import { CREATED, REVOKED } from "./token-steps.ts";
import { type Answer, certificateFlaw, type Reply } from "./wire.ts";

/** What a run came to. */
export interface Diagnosis {
  readonly report: Report;
  /** What makes the emulator behave like the deployment, as far as it was seen. */
  readonly seed: EmulatorSeed;
}

/** The longest that a report says about one question. */
const LONGEST_SEEN = 300;

/** Asks a deployment every question of `probes`, and judges the answers. */
export async function diagnose(
  deployment: Deployment,
  around: Surroundings,
  probes: readonly Probe[] = PROBES,
): Promise<Diagnosis> {
  const at = new Date(around.wallClock()).toISOString();
  const asker = new Asker(deployment, around);
  const steps = new Set(probes.flatMap(({ asks }) => Object.values(asks)));
  try {
    // Writes last, so that the token that is created lives as shortly as possible.
    const [reads, writes] = [[...steps].filter((step) => !writesFor(step)), [...steps].filter(writesFor)];
    for (const step of [...reads, ...writes]) await asker.ask(step);
  } finally {
    if (deployment.write) await asker.ask(REVOKED);
  }
  const { replies } = asker;
  const redactor = new Redactor(asker.secrets);
  const findings: Finding[] = [];
  for (const probe of probes) {
    const answers = await answersTo(probe, asker);
    const finding = judge(probe, answers, { baseUrl: deployment.baseUrl, replies });
    findings.push({ ...finding, seen: redactor.line(finding.seen, LONGEST_SEEN) });
  }
  const isLeftBehind = deployment.write && succeeded(await asker.ask(CREATED)) && !succeeded(await asker.ask(REVOKED));
  const report: Report = {
    doctor: VERSION,
    baseUrl: deployment.baseUrl.href,
    at,
    requests: replies.length,
    result: resultOf(findings, around.signal.aborted ? [] : replies),
    tokenLeftBehind: isLeftBehind,
    questions: probes.map(({ id, question, about, assumes }, index) => {
      const { verdict, seen } = findings[index] ?? unasked("not judged");
      return { id, verdict, question, seen, assumes, about };
    }),
  };
  return { report, seed: seedOf(findings, redactor) };
}

/** Whether a step writes, or comes after one that does. */
function writesFor(step: Step): boolean {
  return step.writes || Object.values(step.after).some(writesFor);
}

async function answersTo({ asks }: Probe, asker: Asker): Promise<Readonly<Record<string, Answer>>> {
  const answers: Record<string, Answer> = {};
  for (const [name, step] of Object.entries(asks)) answers[name] = await asker.ask(step);
  return answers;
}

function judge(
  probe: Probe,
  answers: Readonly<Record<string, Answer>>,
  seen: { readonly baseUrl: URL; readonly replies: readonly Reply[] },
): Finding {
  const replies: Record<string, Reply> = {};
  for (const [name, answer] of Object.entries(answers)) {
    if (answer.kind === "not_asked") return unasked(answer.reason);
    if (answer.kind === "failure") {
      return probe.judgeFailure?.(answer) ?? unasked(certificateFlaw(answer) ?? `no response: ${answer.code}`);
    }
    replies[name] = answer;
  }
  return probe.judge(replies, seen);
}

/** What an interrupted run has not contradicted, it has not asked. */
function resultOf(findings: readonly Finding[], replies: readonly Reply[]): Result {
  if (findings.some(({ verdict }) => verdict === "contradicts")) return "contradicts";
  const isAnswered = replies.some((reply) => (reply.request.credential ?? "own") === "own" && isSuccess(reply));
  return isAnswered ? "agrees" : "not_asked";
}

function succeeded(answer: Answer): boolean {
  return answer.kind === "response" && isSuccess(answer);
}
