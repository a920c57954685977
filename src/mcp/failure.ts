import { type AnyAutomationError, isAutomationError, timeoutPlace } from "../core/errors/classes.ts";
import { STOPPED } from "../core/time/deadline.ts";
import type { Scope } from "../service/scopes.ts";
import { describeIssues } from "./contract-shape.ts";
import { report } from "./diagnostics.ts";
import { quoted, visible } from "./foreign-text.ts";
import { MayExistError } from "./issue-memory.ts";

type Kind = AnyAutomationError["kind"];
type ErrorOf<K extends Kind> = Extract<AnyAutomationError, { readonly kind: K }>;

/** A failure for a model: what happened, and what it can do about it; a sentence each, in words of this package. */
interface Explanation<K extends Kind> {
  readonly happened: string | ((error: ErrorOf<K>) => string);
  readonly advice: string | ((error: ErrorOf<K>, scope: Scope) => string);
  /** The message may hold what a function of the application has thrown, so it goes to standard error only. */
  readonly isReported?: true;
}

const REFUSED = "The service refused the call";
const LOOK_AT = "Correct the arguments by what the service says, and call the tool again.";

const EXPLANATIONS: { readonly [K in Kind]: Explanation<K> } = {
  config: { happened: "The server is set up wrongly", advice: "Tell the user.", isReported: true },
  argument: {
    happened: ({ message }) => visible(message, { longest: 500 }),
    advice: "Correct the argument, and call the tool again.",
  },
  api: { happened: REFUSED, advice: "Read what the service says before calling the tool again." },
  bad_request: { happened: REFUSED, advice: LOOK_AT },
  auth: {
    happened: "The service does not accept the token",
    advice: "Ask the user to set a valid one, since calling again changes nothing.",
  },
  permission: {
    happened: REFUSED,
    advice: (_, scope) => `The token lacks the scope ${scope}, or its owner may not do this: ask the user.`,
  },
  not_found: { happened: REFUSED, advice: "Check the name or the id with one of the list tools." },
  conflict: { happened: REFUSED, advice: "Look at what exists now before calling the tool again." },
  rate_limit: {
    happened: "The rate limit of the service pauses this token",
    advice: ({ retryAfterMs }) =>
      retryAfterMs === undefined
        ? "Call the tool again in a minute."
        : `Call the tool again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
  },
  server: { happened: "The service has a problem", advice: "Call the tool again in a minute." },
  redirect: { happened: "The service redirects to another address", advice: "The address is wrong: tell the user." },
  connection: {
    happened: ({ platformCode }) => {
      const code = /^[A-Z][A-Z\d_]{1,40}$/.test(platformCode ?? "") ? ` (${platformCode})` : "";
      return `The service could not be reached, or the connection was lost${code}`;
    },
    advice: "Call the tool again in a minute, and tell the user if it stays so.",
    isReported: true,
  },
  timeout: {
    // A wait has no attempts of its own.
    happened: ({ phase, attempts }) =>
      `The time of this call ran out ${attempts === undefined ? "before it was done" : timeoutPlace(phase, attempts)}`,
    advice: "Call the tool again.",
  },
  abort: { happened: "The call was cancelled", advice: "Nothing is left to do." },
  parse: {
    happened: "The service responded with something that is not its API",
    advice: "Tell the user.",
  },
  validation: {
    happened: ({ issues }) =>
      `The response is not of the expected shape: ${visible(describeIssues(issues), { longest: 500 }) || "it is odd"}`,
    advice: "Tell the user.",
  },
  pagination: { happened: "The list has no end", advice: "Begin again without a cursor." },
  token_provider: { happened: "The server has no usable token", advice: "Tell the user.", isReported: true },
  journal: { happened: "A journal cannot be used", advice: "Tell the user.", isReported: true },
  bulk: { happened: "Some items were not written", advice: "Tell the user.", isReported: true },
  send: {
    happened: "The tool failed after its write",
    advice: "Do not call it again: tell the user.",
    isReported: true,
  },
};

/** The advice about a write, by its outcome, where that matters more than the kind. */
const ADVICE_BY_OUTCOME: Readonly<Partial<Record<string, string>>> = {
  unknown:
    "The issue may exist: look for it before creating it again. No tool here lists issues, so ask the user to look.",
  accepted: "The service has created the issue, but its response could not be read: do not create it again.",
};

/**
 * A failure as a text that a model can act on: what happened, what the service says, what is known, and one sentence of
 * advice. What the application's own functions threw goes to standard error.
 */
export function describeFailure(
  error: unknown,
  { name, writes, scope }: { readonly name: string; readonly writes: boolean; readonly scope: Scope },
): string {
  if (error === STOPPED) {
    return "Nothing was sent: the time of this call is over while it waits for an earlier call with the same arguments. Call the tool again.";
  }
  if (error instanceof MayExistError) {
    return `Nothing was sent: from memory, an earlier call with the same project, title and type, at ${error.since}, may have created this issue. Ask the user to look for it, and pass again: true to create it all the same.`;
  }
  const own = ownError(error);
  if (own === undefined) {
    report(name, error);
    return "The tool failed unexpectedly. Tell the user.";
  }
  const { happened, advice, isReported } = EXPLANATIONS[own.kind] as Explanation<Kind>; // that of its kind
  if (isReported) report(name, own);
  const { kind, status, code, detail, requestId, outcome } = own;
  const say = (words: Explanation<Kind>["advice"]): string => (typeof words === "string" ? words : words(own, scope));
  const facts = [
    `kind: ${kind}`,
    status === undefined ? [] : `status: ${status}`,
    code === undefined ? [] : `code: ${quoted(code)}`,
    outcome === undefined ? [] : `outcome: ${outcome}`,
    requestId === undefined ? [] : `request: ${quoted(requestId)}`,
  ];
  const byOutcome = writes ? ADVICE_BY_OUTCOME[outcome ?? ""] : undefined;
  const saidByService = detail === undefined ? "" : `: ${quoted(detail)}`;
  return `${say(happened)}${saidByService} (${facts.flat().join(", ")}). ${byOutcome ?? say(advice)}`;
}

/** The error that explains the failure: what `onRequest` threw stands behind the abort that it causes. */
function ownError(error: unknown): AnyAutomationError | undefined {
  if (!isAutomationError(error)) return undefined;
  return error.kind === "abort" && isAutomationError(error.cause) ? error.cause : error;
}
