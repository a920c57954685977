import type { ValidationIssue } from "../errors/automation-error.ts";
import { issuesOf } from "../schemas/foreign-issues.ts";
import { isPromise, type StandardSchema } from "../schemas/standard-schema.ts";
import type { Checked } from "../schemas/validator.ts";
import type { Call } from "./call.ts";
import { invalid, stopped, unparsable } from "./create-error.ts";
import { STOPPED } from "./deadline.ts";
import { redactorOf } from "./error-details.ts";
import { boundsFor, DEFAULT_MAX_RESPONSE_BYTES, JsonBoundError, parseJson } from "./json.ts";

/** What a call comes to, from the text of its 2xx answer; `undefined` for no body that matters. */
export async function interpret(call: Call, text: string | undefined): Promise<unknown> {
  const { answer, schema, essentials } = call.operation;
  if (answer === "none") return undefined;
  const data = parse(call, text);
  if (data === undefined || schema === undefined) return data;
  const checked = await check(call, schema, { data, text });
  if (checked.issues === undefined) return checked.value;
  if (call.pipeline.validation === "strict") throw invalid(call, checked.issues, { data, text });
  if (essentials !== undefined) {
    const least = await check(call, essentials, { data, text });
    if (least.issues !== undefined) throw invalid(call, least.issues, { data, text });
  }
  call.report?.emit({ type: "drift", issues: checked.issues });
  return data;
}

function parse(call: Call, text: string | undefined): unknown {
  const isOptional = call.operation.answer === "json_if_any";
  if (text === undefined || text.trim() === "") {
    if (isOptional) return undefined;
    throw unparsable(call, "an empty body", text);
  }
  try {
    return parseJson(text, boundsFor(DEFAULT_MAX_RESPONSE_BYTES));
  } catch (error) {
    if (error instanceof JsonBoundError) throw unparsable(call, error.message, text);
    // The platform's message quotes the text, which may hold a one-time secret.
    if (isOptional) return undefined;
    throw unparsable(call, "a body that is not JSON", text);
  }
}

async function check<Output>(
  call: Call,
  schema: StandardSchema<Output>,
  { data, text }: { data: unknown; text: string | undefined },
): Promise<Checked<Output>> {
  try {
    const result = schema["~standard"].validate(data);
    const told = isPromise(result) ? await call.budget.race(result) : result;
    return told.issues === undefined ? told : { issues: presentable(call, issuesOf(schema, told.issues, data)) };
  } catch (cause) {
    if (cause === STOPPED) throw stopped(call, text);
    throw invalid(call, [], { data, text, cause });
  }
}

// A key that nobody knows may be anything, the token included.
function presentable(call: Call, issues: readonly ValidationIssue[]): ValidationIssue[] {
  const redactor = redactorOf(call);
  return issues.map(({ path, message }) => ({
    path: path.map((key) => (typeof key === "string" ? redactor.text(key) : key)),
    message: redactor.text(message),
  }));
}
