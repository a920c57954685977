import { isWrite } from "./call/operation.ts";
import { oneOf, type Validator } from "./checks/validators.ts";
import { describeValue } from "./checks/values.ts";
import type { ClientEvent, LogFields, Logger } from "./events.ts";
import type { Instrumentation } from "./instrumentation.ts";

/** The least important level that is logged. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "off";

/** Levels of log lines, the most detailed first. */
const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error", "off"];

/** The levels that an option may have. */
export const LOG_LEVEL: Validator = oneOf(...LOG_LEVELS);

let isUnknownLevelTold = false;

/** The level that the environment asks for. A log must not stop a program: an unknown level is told once, and is `"warn"`. */
export function levelOfEnvironment(level: string | undefined): LogLevel | undefined {
  if (level === undefined || LOG_LEVEL.accepts(level)) return level as LogLevel | undefined; // which it is
  const flaw = `must be ${LOG_LEVEL.words}, not ${describeValue(level)}`;
  if (!isUnknownLevelTold) console.error(`PROJECT_AUTOMATION_LOG in the environment ${flaw}: it counts as warn`);
  isUnknownLevelTold = true;
  return "warn";
}

type Level = keyof Logger;
type Line<Event extends ClientEvent> = readonly [
  level: Level | ((event: Event) => Level),
  say: (event: Event) => string,
];

/** A wait of this length looks like a crash to whoever waits, so it is a warning. */
const LONG_WAIT_MS = 5_000;

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
  retry: [
    // The wait for a rate limit is in the line of its pause.
    ({ reason, delayMs }) => (reason === "unavailable" ? levelOfWait(delayMs) : "info"),
    ({ attempt, reason, delayMs }) => `attempt ${attempt} failed (${reason}), retry in ${Math.round(delayMs)} ms`,
  ],
  rate_limit_pause: [
    ({ delayMs }) => levelOfWait(delayMs),
    ({ delayMs }) => `rate limit reached, pausing for ${Math.round(delayMs)} ms`,
  ],
  rate_limit_resume: ["info", () => "rate limit pause over, resuming"],
  token_refresh: ["info", () => "401, sending again with another token"],
  drift: [
    "warn",
    ({ issues }) =>
      `unexpected response, returned as it is: ${issues.map(({ path }) => path.join(".") || "body").join(", ")}`,
  ],
  deprecation: ["warn", ({ sunset }) => `deprecated by the service${sunset ? `, to be removed ${sunset}` : ""}`],
};

/**
 * Writes events as lines that a person can read: requests and responses at `debug`; short waits and failed calls at `info`;
 * waits of 5 s or more, deprecations and unexpected responses at `warn`; writes that may have been applied at `error`.
 */
export function logCalls(logger: Logger | undefined, logLevel: LogLevel | undefined): Instrumentation | undefined {
  const least = logLevel ?? (logger ? "warn" : "off");
  if (least === "off") return undefined;
  const write = (level: Level, line: string, source: object): unknown => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return undefined;
    const isShown = ([, value]: [string, unknown]): boolean => ["string", "number"].includes(typeof value);
    const fields = Object.fromEntries(Object.entries(source).filter(isShown)) as LogFields; // as the filter says
    // The standard output belongs to the program.
    return logger ? logger[level](line, fields) : console.error(`[${fields["callId"]}] ${line}`);
  };
  return {
    begin: ({ callId, operation, method }) => ({
      event(event) {
        if (event.type === "end") return undefined;
        const [level, say] = LINES[event.type] as Line<ClientEvent>; // that of its type
        return write(typeof level === "function" ? level(event) : level, `${operation}: ${say(event)}`, event);
      },
      end(error) {
        if (error === undefined) return undefined;
        const { kind, status, code, attempts, outcome, requestId, message } = error;
        const fields = { callId, operation, kind, status, code, attempts, outcome, requestId };
        const isSerious = isWrite({ method }) && (outcome === "unknown" || outcome === "accepted");
        return write(isSerious ? "error" : "info", message, fields);
      },
    }),
  };
}
