import type { ClientEvent, EventListener, Logger } from "./events.ts";

/** Writes events as lines that a person can read: traffic at `debug`, waits at `info`, what needs looking at at `warn`. */
export function logEvents(logger: Logger): EventListener {
  return (event) => {
    const line = `[${event.callId}] ${event.operation}: ${describe(event)}`;
    return logger[LEVELS[event.type]](line);
  };
}

const LEVELS: Readonly<Record<ClientEvent["type"], keyof Logger>> = {
  request: "debug",
  response: "debug",
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
