import { type Diagnosis, diagnose } from "../../src/doctor/diagnose.ts";
import { sendByNode } from "../../src/doctor/node/send.ts";
import type { Question } from "../../src/doctor/question.ts";
import type { ReportedQuestion } from "../../src/doctor/report.ts";
import type { Send, WireRequest } from "../../src/doctor/wire.ts";

/** A wall clock that moves only when the doctor sleeps. */
export interface VirtualClock {
  readonly now: () => number;
  /** Every sleep so far, in milliseconds. */
  readonly sleeps: readonly number[];
  readonly sleep: (ms: number) => Promise<void>;
}

/** Begins at a whole second, as `Date` headers do. */
export function virtualClock(): VirtualClock {
  let time = Math.floor(Date.now() / 1_000) * 1_000;
  const sleeps: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    sleeps.push(ms);
    time += ms;
  };
  return { now: () => time, sleeps, sleep };
}

export interface ExamineOptions {
  readonly write?: boolean;
  readonly clock?: VirtualClock;
  readonly send?: Send;
  readonly signal?: AbortSignal;
  readonly asked?: readonly Question[];
}

export interface Examined extends Diagnosis {
  readonly notices: readonly string[];
  /** The questions that were judged a contradiction, by id, with what was seen. */
  readonly contradictions: Readonly<Record<string, string>>;
  readonly question: (id: string) => ReportedQuestion;
}

/** Runs the doctor over real sockets, with time that takes no time. */
export async function examine(
  { baseUrl, token }: { readonly baseUrl: string; readonly token: string },
  options: ExamineOptions = {},
): Promise<Examined> {
  const {
    write = false,
    clock = virtualClock(),
    send = (request: WireRequest) => sendByNode(request),
    asked,
  } = options;
  const notices: string[] = [];
  const around = {
    send,
    sleep: clock.sleep,
    wallClock: clock.now,
    signal: options.signal ?? new AbortController().signal,
    notify: (line: string) => void notices.push(line),
  };
  const diagnosis = await diagnose({ baseUrl: new URL(baseUrl), token, write }, around, asked);
  const { questions } = diagnosis.report;
  const contradicting = questions.filter(({ verdict }) => verdict === "contradicts");
  const question = (id: string): ReportedQuestion => {
    const found = questions.find((one) => one.id === id);
    if (found === undefined) throw new Error(`there is no question ${id}`);
    return found;
  };
  return {
    ...diagnosis,
    notices,
    contradictions: Object.fromEntries(contradicting.map(({ id, seen }) => [id, seen])),
    question,
  };
}
