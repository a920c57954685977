import type { Conventions } from "../emulator/conventions.ts";
import type { Step } from "./step.ts";
import type { Reply } from "./wire.ts";

/**
 * The verdict of a question.
 *
 * - `agrees`: as the API documentation says, or, where it says nothing, as the emulator does by default.
 * - `differs`: the API documentation says nothing, and the emulator does otherwise by default.
 * - `contradicts`: not as the API documentation says, or in a way that the client cannot work with.
 * - `not_asked`: nothing was learned.
 */
export type Verdict = "agrees" | "differs" | "contradicts" | "not_asked";

export interface Finding {
  readonly verdict: Verdict;
  /** The observation, or why there is none. */
  readonly seen: string;
  /** The consequence for a program that uses the client; of a finding that differs or contradicts. */
  readonly so?: string | undefined;
  /** The conventions by which the emulator does the same. */
  readonly conventions?: Conventions | undefined;
}

export interface Seen {
  readonly baseUrl: URL;
  /** Every response that the question may judge, also those to requests that were repeated. */
  readonly replies: readonly Reply[];
}

export interface Question {
  /** Stable: reports of two nights are compared by it. */
  readonly id: string;
  readonly question: string;
  /** The sentence of the API documentation, or the convention of the emulator, that it is about. */
  readonly about: string;
  /** The assumption of the client or the emulator. */
  readonly assumes: string;
  /** The requests whose responses it needs. */
  readonly asks: Readonly<Record<string, Step>>;
  /** Judges also a page of a proxy. Any other question judges only responses that are the service's. */
  readonly judgesPages?: true;
  /** A pure function of what was seen. Called only if every request of `asks` has a response that the question may judge. */
  readonly judge: (replies: Readonly<Record<string, Reply>>, seen: Seen) => Finding;
}

interface QuestionFields<Name extends string> extends Omit<Question, "asks" | "judge"> {
  readonly asks?: Readonly<Record<Name, Step>>;
  readonly judge: (replies: Readonly<Record<Name, Reply>>, seen: Seen) => Finding;
}

export function question<Name extends string = never>(fields: QuestionFields<Name>): Question {
  return {
    ...fields,
    asks: fields.asks ?? {},
    judge: fields.judge,
  };
}

export function agrees(seen: string, conventions?: Conventions): Finding {
  return { verdict: "agrees", seen, conventions };
}

export function differs(seen: string, so: string, conventions?: Conventions): Finding {
  return { verdict: "differs", seen, so, conventions };
}

export function contradicts(seen: string, so: string, conventions?: Conventions): Finding {
  return { verdict: "contradicts", seen, so, conventions };
}

export function unasked(reason: string): Finding {
  return { verdict: "not_asked", seen: reason };
}
