import type { ValidationIssue } from "../errors/automation-error.ts";
import { issuesOf, stringsOf } from "../schemas/foreign-issues.ts";
import { isPromise, type StandardSchema } from "../schemas/standard-schema.ts";
import type { Checked } from "../schemas/validator.ts";
import type { Call } from "./call.ts";
import { parseError, stoppedError, validationError } from "./create-error.ts";
import { STOPPED } from "./deadline.ts";
import type { Received } from "./exchange.ts";
import { boundsFor, JsonBoundError, parseJson } from "./json.ts";
import { Redactor } from "./redact.ts";

/** No secret is shorter, and shorter strings of a response occur in any stack. */
const SHORTEST_QUOTED = 12;
/** How many characters of what a schema threw are compared with strings of the response, for all of them together. */
const MAX_COMPARED = 20_000_000;
/** So many causes of an error are kept. */
const MAX_CAUSES = 6;

/** The output of a call, from its successful response; `undefined` for a body that does not matter. */
export async function readOutput(call: Call, received: Received): Promise<unknown> {
  const { answer, schema, essentials } = call.operation;
  if (answer === "none") return undefined;
  const data = parse(call, received);
  if (data === undefined || schema === undefined) return data;
  const checked = await check(call, schema, { data, received });
  if (checked.issues === undefined) return checked.value;
  const isStrict = call.pipeline.validation === "strict";
  const least = isStrict || essentials === undefined ? checked : await check(call, essentials, { data, received });
  if (isStrict || (essentials !== undefined && least.issues !== undefined)) {
    throw validationError(call.facts, { ...received, issues: least.issues ?? [] });
  }
  call.events?.emit({ type: "drift", issues: checked.issues });
  return data;
}

function parse(call: Call, received: Received): unknown {
  const { text } = received;
  const { answer } = call.operation;
  if (text === undefined || text.trim() === "") {
    if (answer !== "json") return undefined;
    throw parseError(call.facts, received, "an empty body");
  }
  try {
    return parseJson(text, boundsFor(call.pipeline.maxResponseBytes));
  } catch (error) {
    if (error instanceof JsonBoundError) throw parseError(call.facts, received, error.message);
    // The platform's message quotes the text, which may hold a one-time secret.
    if (answer === "json_if_any") return undefined;
    throw parseError(call.facts, received, "a body that is not JSON");
  }
}

interface Parsed {
  readonly data: unknown;
  readonly received: Received;
}

async function check<Output>(
  call: Call,
  schema: StandardSchema<Output>,
  { data, received }: Parsed,
): Promise<Checked<Output>> {
  try {
    const result = schema["~standard"].validate(data);
    const settled = isPromise(result) ? await call.deadline.race(result) : result;
    return settled.issues === undefined ? settled : { issues: redacted(call, issuesOf(schema, settled.issues, data)) };
  } catch (cause) {
    const { reason } = call.deadline;
    if (cause === STOPPED && reason !== undefined) {
      const { head, text } = received;
      throw stoppedError(call.facts, { reason, phase: "body", isSent: true, head, text }, call.settings.signal);
    }
    throw validationError(call.facts, { ...received, issues: [], thrown: { cause: copyOf(call, cause, data) } });
  }
}

// A key that is not known may be anything, the token included.
function redacted(call: Call, issues: readonly ValidationIssue[]): ValidationIssue[] {
  const { redactor } = call.facts;
  return issues.map(({ path, message }) => ({
    path: path.map((key) => (typeof key === "string" ? redactor.text(key) : key)),
    message: redactor.text(message),
  }));
}

/** The messages and stacks of an error and of its causes, or JSON of something else. */
function textOf(thrown: unknown, depth = 0): string {
  if (depth > MAX_CAUSES || thrown === undefined) return "";
  if (!(thrown instanceof Error)) return JSON.stringify(new Redactor([]).cause(thrown)) ?? String(thrown);
  return `${thrown.message}\n${thrown.stack ?? ""}\n${textOf(thrown.cause, depth + 1)}`;
}

// A schema's own error may quote the response, which may hold a one-time secret.
function copyOf(call: Call, thrown: unknown, data: unknown): unknown {
  const { history, pipeline } = call;
  const tokens = [...history.tokens, pipeline.tokenSource.current];
  const said = textOf(thrown);
  const strings = stringsOf(data).filter((text) => text.length >= SHORTEST_QUOTED);
  if (strings.length * said.length > MAX_COMPARED) return undefined;
  return new Redactor([...tokens, ...strings.filter((text) => said.includes(text))]).cause(thrown);
}
