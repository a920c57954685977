import { type Answer, type NotAsked, notAsked, type PlannedRequest, type Reply } from "./wire.ts";

/** One request of a run, and what has to be known before it can be written down. */
export interface Step {
  /** Asked first. */
  readonly after: Readonly<Record<string, Step>>;
  /** Sent only with `--write`. */
  readonly writes: boolean;
  /** Undoes what an earlier step did, so it is sent also when a run is interrupted, and again if it fails. */
  readonly cleansUp: boolean;
  /** The response is the one place where a token may appear. */
  readonly reveals: boolean;
  /** Builds the request from the answers to `after`, picks one of them, or says why nothing is sent. */
  readonly request: (answers: Readonly<Record<string, Answer>>, baseUrl: URL) => PlannedRequest | Answer;
}

interface StepFields<Name extends string> extends Partial<Pick<Step, "writes" | "cleansUp" | "reveals">> {
  readonly after?: Readonly<Record<Name, Step>>;
  readonly request: (answers: Readonly<Record<Name, Answer>>, baseUrl: URL) => PlannedRequest | Answer;
}

/** Describes a step. It is sent once, however many questions and steps need it. */
export function step<Name extends string = never>(fields: StepFields<Name>): Step {
  return {
    writes: false,
    cleansUp: false,
    reveals: false,
    ...fields,
    after: fields.after ?? {},
    request: fields.request,
  };
}

/** The result of `build` for a response; else the reason why there is none. */
export function replyOr<Result>(answer: Answer, build: (reply: Reply) => Result | NotAsked): Result | NotAsked {
  if (answer.kind === "response") return build(answer);
  return answer.kind === "not_asked" ? answer : notAsked(`no response: ${answer.code}`);
}
