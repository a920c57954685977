import { type AnyAutomationError, isAutomationError } from "../client/errors/classes.ts";
import type { Scope } from "../client/scopes.ts";
import { MayExistError } from "./issue-guard.ts";

type Kinds = AnyAutomationError["kind"];

/** What a model can do about a failure, by the kind of the error: one sentence each. */
const ADVICE: {
  readonly [Kind in Kinds]: string | ((error: AnyAutomationError, scope: Scope) => string);
} = {
  config: "The server is set up wrongly: tell the user.",
  argument: "Correct the argument that the message names, and call the tool again.",
  api: "Read what the service says before calling the tool again.",
  bad_request: "Correct the arguments by what the service says, and call the tool again.",
  auth: "The token is not accepted: ask the user to set a valid one, since calling again changes nothing.",
  permission: (_, scope) => `The token lacks the scope ${scope}, or its owner may not do this: ask the user.`,
  not_found: "Check the name or the id with one of the list tools.",
  conflict: "Look at what exists now before calling the tool again.",
  rate_limit: ({ retryAfterMs }) =>
    retryAfterMs === undefined
      ? "Call the tool again in a minute."
      : `Call the tool again in ${seconds(retryAfterMs)} s.`,
  server: "The service has a problem: call the tool again in a minute.",
  redirect: "The address of the service is wrong: tell the user.",
  connection: "The service cannot be reached: call the tool again in a minute, and tell the user if it stays so.",
  timeout: "The time of this call is over: call the tool again.",
  abort: "The call was cancelled.",
  parse: "The service responded with something that is not its API: tell the user.",
  validation: "The service responded with something unexpected: tell the user.",
  pagination: "The service returned a cursor twice: begin again without a cursor.",
  token_provider: "The server has no usable token: tell the user.",
  journal: "The record of created issues does not work, so nothing is created: tell the user.",
};

/** The advice about a write, by its outcome, where that matters more than the kind. */
const ADVICE_BY_OUTCOME: Readonly<Record<string, string>> = {
  unknown: "The issue may exist: look for it before creating it again.",
  accepted: "The service has created the issue, but its response could not be read: do not create it again.",
};

/** A failure as a text that a model can act on: what happened, what is known about it, and one sentence of advice. */
export function describeFailure(
  error: unknown,
  { writes, scope }: { readonly writes: boolean; readonly scope: Scope },
): string {
  if (error instanceof MayExistError) {
    return "Nothing was sent: an earlier call with the same project, title and type may have created this issue. Look for it, and pass again: true to create it all the same.";
  }
  const own = ownError(error);
  // Whatever else was thrown is a defect, and its message may hold anything.
  if (own === undefined) return "The tool failed unexpectedly. Tell the user.";
  const { kind, status, outcome } = own;
  // The message of a journal names a file of this machine.
  const message = kind === "journal" ? "the journal failed" : own.message;
  const facts = [
    `kind: ${kind}`,
    status === undefined ? [] : `status: ${status}`,
    outcome === undefined ? [] : `outcome: ${outcome}`,
  ];
  const byOutcome = writes && outcome !== undefined ? ADVICE_BY_OUTCOME[outcome] : undefined;
  const advice = ADVICE[kind];
  return `${message} (${facts.flat().join(", ")}). ${byOutcome ?? (typeof advice === "string" ? advice : advice(own, scope))}`;
}

/** The error that explains the failure: what `onRequest` threw stands behind the abort that it causes. */
function ownError(error: unknown): AnyAutomationError | undefined {
  if (!isAutomationError(error)) return undefined;
  return error.kind === "abort" && isAutomationError(error.cause) ? error.cause : error;
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}
