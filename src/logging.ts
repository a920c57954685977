import type { ClientEvent, Logger } from "./events.ts";
import type { Instrumentation } from "./instrumentation.ts";

/**
 * Writes what happens as lines that a person can read: traffic at `debug`, waits and calls that failed at `info`, what
 * the operator of a program should look at one day at `warn`, and writes of which nobody knows what became at `error`.
 */
export function logCalls(logger: Logger): Instrumentation {
  return {
    begin: ({ callId, operation }) => ({
      event: (event) => logger[LEVELS[event.type]](`[${callId}] ${operation}: ${describe(event)}`),
      end(error) {
        if (error === undefined) return undefined;
        const isAdrift = error.method !== "GET" && (error.outcome === "unknown" || error.outcome === "accepted");
        return logger[isAdrift ? "error" : "info"](`[${callId}] ${error.message}`);
      },
    }),
  };
}

const LEVELS: Readonly<Record<ClientEvent["type"], keyof Logger>> = {
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

function describe(event: ClientEvent): string {
  switch (event.type) {
    case "request":
      return `attempt ${event.attempt}, ${event.method} ${event.path}`;
    case "response":
      return `answered ${event.status} in ${Math.round(event.headersMs + event.bodyMs)} ms`;
    case "page":
      return `page ${event.pages}, ${event.items} items so far`;
    case "retry":
      return `attempt ${event.attempt} failed (${event.reason}), again in ${Math.round(event.delayMs)} ms`;
    case "rate_limit_pause":
      return `rate limit reached, pausing for ${Math.round(event.delayMs)} ms`;
    case "rate_limit_resume":
      return "rate limit pause over, going on";
    case "token_refresh":
      return "answered 401, sending again with another token";
    case "drift":
      return `unexpected answer, handed over as it came: ${event.issues.map((issue) => issue.path.join(".")).join(", ")}`;
    case "deprecation":
      return `deprecated by the service${event.sunset ? `, to be removed ${event.sunset}` : ""}`;
  }
}
