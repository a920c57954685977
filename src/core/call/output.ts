import { isPromise } from "../checks/values.ts";
import type { ValidationIssue } from "../errors/automation-error.ts";
import type { Redactor } from "../secrets/redact.ts";
import { STOPPED } from "../time/deadline.ts";
import { parseJson } from "../wire/json.ts";
import type { Call, Received } from "./call.ts";
import { parseError, stoppedError, validationError } from "./create-error.ts";
import { OWN_VENDOR, type StandardIssue, type StandardSchema } from "./standard-schema.ts";

/** The most issues of an error, and keys of the path of each: a response may have one for each of its values. */
const MOST_ISSUES = 100;
const LONGEST_KEY = 100;
const LONGEST_MESSAGE = 300;

export async function parseOutput(call: Call, received: Received): Promise<unknown> {
  const { schema, lenientSchema } = call.operation;
  const data = parse(call, received);
  if (data === undefined || schema === undefined) return data;
  const { value, issues } = await check(call, schema, { ...received, data });
  if (issues === undefined) return value;
  const isStrict = call.settings.validation === "strict";
  const violated = isStrict
    ? issues
    : lenientSchema && (await check(call, lenientSchema, { ...received, data })).issues;
  if (violated !== undefined) throw validationError(call, received, { issues: violated });
  call.events?.emit({ type: "drift", issues });
  return data;
}

function parse(call: Call, received: Received): unknown {
  const { text = "", isFromService } = received;
  const { expects } = call.operation;
  const json = text.trim();
  const data = json === "" || expects === "nothing" ? undefined : parseJson(json);
  // The service has done what no body is due of by its status.
  const isDone = isFromService === true && (json === "" || expects !== undefined);
  if (data !== undefined || isDone) return data;
  throw parseError(call, received, json === "" ? "an empty body" : "a body that is not JSON");
}

interface Parsed extends Received {
  readonly data: unknown;
}

interface Checked {
  readonly value?: unknown;
  readonly issues: readonly ValidationIssue[] | undefined;
}

async function check(call: Call, schema: StandardSchema, received: Parsed): Promise<Checked> {
  const { data } = received;
  try {
    const validated = schema["~standard"].validate(data);
    const result = isPromise(validated) ? await call.deadline.race(validated) : validated;
    if (result.issues === undefined) return { value: result.value, issues: undefined };
    const { redactor } = call;
    // Our own messages quote nothing.
    const isOwn = schema["~standard"].vendor === OWN_VENDOR;
    return { issues: shownOf(result.issues, redactor, isOwn ? redactor : redactor.alsoHiding(data)) };
  } catch (cause) {
    if (cause === STOPPED) throw stoppedError(call, { ...received, deadline: call.deadline, phase: "body" });
    throw validationError(call, received, { thrown: call.redactor.alsoHiding(data).cause(cause) });
  }
}

// A key that is not known may be anything, the token included, but is no value of the response. Lists may be of a class of
// their own, whose methods make more of these.
function shownOf(issues: readonly StandardIssue[], ofKeys: Redactor, ofMessages: Redactor): ValidationIssue[] {
  const shown = Array.from(issues)
    .slice(0, MOST_ISSUES)
    .map(({ path = [], message }) => ({
      path: Array.from(path, (member) => (typeof member === "object" ? member.key : member))
        .slice(0, MOST_ISSUES)
        .map((key) => (typeof key === "number" ? key : ofKeys.line(String(key), LONGEST_KEY))),
      message: ofMessages.line(message, LONGEST_MESSAGE),
    }));
  const more = issues.length - shown.length;
  return more > 0 ? [...shown, { path: [], message: `${more} more issues are not listed` }] : shown;
}
