import type { AnyAutomationError } from "./errors/guard.ts";
import type { ClientEvent, EndEvent, LogFields, Logger } from "./events.ts";
import type { Instrumentation } from "./instrumentation.ts";

/** The least important level that is logged. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "off";

/** Levels of log lines, the most detailed first. */
export const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error", "off"];

/** Writes every line to standard error: the standard output belongs to the program. */
export const standardErrorLogger: Logger = {
  debug: writeLine,
  info: writeLine,
  warn: writeLine,
  error: writeLine,
};

function writeLine(message: string, { callId }: LogFields): void {
  console.error(`[${callId}] ${message}`);
}

/** Those that are written as they happen. How a call ended is written with its error. */
type LoggedEvent = Exclude<ClientEvent, EndEvent>;

const LEVELS: Readonly<Record<LoggedEvent["type"], keyof Logger>> = {
  request: "debug",
  response: "debug",
  page: "debug",
  retry: "info",
  rate_limit_pause: "info",
  rate_limit_resume: "info",
  token_refresh: "info",
  drift: "warn",
  deprecation: "warn",
};

/**
 * Writes events as lines that a person can read: requests and responses at `debug`, waits and failed calls at `info`,
 * deprecations and unexpected responses at `warn`, writes that may have been applied at `error`.
 */
export function logCalls(logger: Logger, level: LogLevel): Instrumentation | undefined {
  if (level === "off") return undefined;
  const isLogged = (line: keyof Logger): boolean => LOG_LEVELS.indexOf(line) >= LOG_LEVELS.indexOf(level);
  return {
    begin: ({ callId, operation }) => ({
      event(event) {
        if (event.type === "end") return undefined;
        const lineLevel = LEVELS[event.type];
        if (!isLogged(lineLevel)) return undefined;
        return logger[lineLevel](`${operation}: ${describe(event)}`, fieldsOf(event));
      },
      end(error) {
        if (error === undefined) return undefined;
        const lineLevel = levelOf(error);
        if (!isLogged(lineLevel)) return undefined;
        const { kind, status, code, attempts, outcome, requestId } = error;
        const fields = fieldsOf({ callId, operation, kind, status, code, attempts, outcome, requestId });
        return logger[lineLevel](error.message, fields);
      },
    }),
  };
}

function levelOf({ method, outcome }: AnyAutomationError): keyof Logger {
  const isWrite = method !== undefined && method !== "GET" && method !== "HEAD";
  return isWrite && (outcome === "unknown" || outcome === "accepted") ? "error" : "info";
}

function fieldsOf(source: object): LogFields {
  const fields = Object.entries(source).filter(([, value]) => typeof value === "string" || typeof value === "number");
  return Object.fromEntries(fields) as LogFields; // as the filter says
}

function describe(event: LoggedEvent): string {
  switch (event.type) {
    case "request":
      return `attempt ${event.attempt}, ${event.method} ${event.path}`;
    case "response":
      return `response ${event.status} in ${Math.round(event.headersMs + event.bodyMs)} ms${event.lost ? `, its body was lost (${event.lost})` : ""}`;
    case "page":
      return `page ${event.pages}, ${event.items} items so far`;
    case "retry":
      return `attempt ${event.attempt} failed (${event.reason}), retry in ${Math.round(event.delayMs)} ms`;
    case "rate_limit_pause":
      return `rate limit reached, pausing for ${Math.round(event.delayMs)} ms`;
    case "rate_limit_resume":
      return "rate limit pause over, resuming";
    case "token_refresh":
      return "401, sending again with another token";
    case "drift":
      return `unexpected response, returned as it is: ${event.issues.map((issue) => issue.path.join(".")).join(", ")}`;
    case "deprecation":
      return `deprecated by the service${event.sunset ? `, to be removed ${event.sunset}` : ""}`;
  }
}
