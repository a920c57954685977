/** The service, in a process of its own: the emulator behind its HTTP server, with a log that holds what it asked for. */

import { ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import { startEmulator } from "../../dist/testing/node.js";
import { say, taskOf } from "../support/part.ts";
import {
  CALL_HEADER,
  type LoggedRequest,
  PROJECTS,
  RATE_LIMIT,
  type ServerReport,
  type Service,
} from "./experiment.ts";

taskOf();
const retryAfterOf = recordRetryAfter();
const { baseUrl, token, emulator } = await startEmulator({
  projects: PROJECTS,
  rateLimit: RATE_LIMIT,
  // Finer than whole milliseconds, and never set back.
  now: () => performance.timeOrigin + performance.now(),
});
const projects = emulator.projects.list();
process.on("message", () => say(report()));
say({ baseUrl, token, projects } satisfies Service);

function report(): ServerReport {
  return {
    requests: emulator.requests.map(
      ({ at, headers, status, requestId }): LoggedRequest => ({
        at,
        call: headers[CALL_HEADER] ?? "",
        status,
        retryAfterMs: retryAfterOf.get(requestId),
      }),
    ),
    issues: projects.flatMap(({ id }) => emulator.issues.list(id)),
  };
}

/** The emulator's log has no response headers: they are read where they are put on the wire. */
function recordRetryAfter(): ReadonlyMap<string, number> {
  const recorded = new Map<string, number>();
  const prototype: {
    writeHead: (this: ServerResponse, ...given: never[]) => ServerResponse;
  } = ServerResponse.prototype;
  const { writeHead } = prototype;
  prototype.writeHead = function (...given) {
    const headers = given.at(-1);
    if (typeof headers === "object" && headers !== null && "retry-after" in headers && "x-request-id" in headers) {
      recorded.set(String(headers["x-request-id"]), Number(headers["retry-after"]) * 1_000);
    }
    return writeHead.apply(this, given);
  };
  return recorded;
}
