import { INVALID, oneOf, type Validator } from "../core/checks/validators.ts";
import { type ClientEvent, type EndEvent, LONG_WAIT_MS, type LogFields, type Logger } from "../core/events.ts";
import type { CallId, Instrumentation } from "../core/instrumentation.ts";
import { isWrite } from "../core/wire/method.ts";

/** The least important level that is logged. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "off";

const LOG_LEVELS = ["debug", "info", "warn", "error", "off"] as const satisfies readonly LogLevel[];

export const LOG_LEVEL: Validator<LogLevel> = oneOf(...LOG_LEVELS);

let isUnknownLevelTold = false;

/** The level that the environment asks for. An unknown level means `"warn"`, and one line says so: a log must not stop a program. */
export function levelOfEnvironment(level: string | undefined): LogLevel | undefined {
  if (level === undefined) return undefined;
  const known = LOG_LEVEL.parse(level);
  if (known !== INVALID) return known;
  const problem = `is not ${LOG_LEVEL.words}`;
  if (!isUnknownLevelTold) console.error(`PROJECT_AUTOMATION_LOG in the environment ${problem}: it counts as warn`);
  isUnknownLevelTold = true;
  return "warn";
}

/** The standard output belongs to the program. */
const print = (line: string): void => console.error(line);

const STANDARD_ERROR: Logger = { debug: print, info: print, warn: print, error: print };

type Level = keyof Logger;
type Line<Event extends ClientEvent> = readonly [
  level: Level | ((event: Event) => Level),
  say: (event: Event) => string,
];

function levelOfWait(delayMs: number): Level {
  return delayMs >= LONG_WAIT_MS ? "warn" : "info";
}

/** The lines of events. How a call ended is written with its error. */
const LINES: { readonly [Type in Exclude<ClientEvent["type"], "end">]: Line<Extract<ClientEvent, { type: Type }>> } = {
  request: ["debug", ({ attempt, method, path }) => `attempt ${attempt}, ${method} ${path}`],
  response: [
    "debug",
    ({ status, headersMs, bodyMs, lost }) =>
      `response ${status} in ${Math.round(headersMs + bodyMs)} ms${lost ? `, its body was lost (${lost})` : ""}`,
  ],
  page: ["debug", ({ pages, items }) => `page ${pages}, ${items} items so far`],
  poll: [
    ({ stalled }) => (stalled ? "warn" : "debug"),
    ({ state, unchangedMs, stalled }) =>
      `state ${JSON.stringify(state)} for ${Math.round(unchangedMs / 1_000)} s${stalled ? ", and no totalTimeoutMs ends this wait" : ""}`,
  ],
  retry: [
    // The wait for a rate limit is in the line of its pause.
    ({ reason, delayMs }) => (reason === "rate_limit" ? "info" : levelOfWait(delayMs)),
    ({ attempt, reason, delayMs }) => `attempt ${attempt} failed (${reason}), retry in ${Math.round(delayMs)} ms`,
  ],
  rate_limit_pause: [
    ({ delayMs }) => levelOfWait(delayMs),
    ({ delayMs }) => `rate limit reached, pausing for ${Math.round(delayMs)} ms`,
  ],
  rate_limit_resume: ["info", () => "rate limit pause over, resuming"],
  queue_wait: ["warn", ({ queueMs }) => `waiting in the queue for ${Math.round(queueMs)} ms by now`],
  token_refresh: ["info", () => "401, sending again with another token"],
  drift: [
    "warn",
    ({ issues }) =>
      `unexpected response, returned as it is: ${issues.map(({ path }) => path.join(".") || "body").join(", ")}`,
  ],
};

function fieldsOf(source: object): LogFields {
  const fields: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(source)) {
    if (typeof value === "string") fields[name] = value;
    else if (typeof value === "number") fields[name] = Math.round(value);
  }
  return fields;
}

export interface Log {
  readonly calls: Instrumentation;
  readonly hookFailed: (hook: string, call: CallId, why: string) => unknown;
  readonly say: (level: Level, text: string) => unknown;
}

/**
 * Writes events as lines that a person can read: requests and responses at `debug`; short waits and failed calls at `info`;
 * waits of 5 s or more and unexpected responses at `warn`; writes that may have been applied at `error`.
 * Each line begins with the id of its call.
 */
export function createLog(given: Logger | undefined, asked: LogLevel | undefined): Log | undefined {
  if ((given ?? asked) === undefined || asked === "off") return undefined;
  const [logger, least] = [given ?? STANDARD_ERROR, asked ?? "warn"];
  const print = (level: Level, text: string, source: object): unknown => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return undefined;
    return logger[level](text, fieldsOf(source));
  };
  const write = (level: Level, text: string, source: CallId): unknown =>
    print(level, `[${source.callId}] ${text}`, source);
  const tell = (event: Exclude<ClientEvent, EndEvent>): unknown => {
    const [level, say] = LINES[event.type] as Line<ClientEvent>; // that of its type
    return write(typeof level === "function" ? level(event) : level, `${event.operation}: ${say(event)}`, event);
  };
  return {
    calls: {
      begin: ({ callId, operation, method }) => ({
        event: (event) => (event.type === "end" ? undefined : tell(event)),
        end(error) {
          if (error === undefined) return undefined;
          const { kind, status, code, attempts, outcome, requestId, message } = error;
          const fields = { callId, operation, kind, status, code, attempts, outcome, requestId };
          const isSerious = isWrite(method) && (outcome === "unknown" || outcome === "accepted");
          return write(isSerious ? "error" : "info", message, fields);
        },
      }),
    },
    hookFailed(hook, { callId, operation }, why) {
      const fields = { callId, operation, hook };
      return write("warn", `${operation}: ${hook} failed: ${why} (told once)`, fields);
    },
    say: (level, text) => print(level, text, {}),
  };
}
