import { isRecord } from "../core/checks/values.ts";
import { atOnce } from "./checks.ts";
import type { Fault, JsonBody } from "./faults.ts";
import type { RecordedRequest } from "./request-log.ts";
import type { Reply } from "./response.ts";

export function replacesOperation({ status, apply, drop }: Fault): boolean {
  return (status !== undefined && apply !== true) || drop === "before";
}

/** The service's reply as a fault changes it; `toResponse` decides how it travels. */
export function applyFault(fault: Fault, reply: Reply, request: RecordedRequest): Reply {
  const { status, body, transform } = fault;
  if (status !== undefined) {
    const content = body === undefined ? scriptedBody(status) : body;
    return { status, content, headers: {}, quota: { ...reply.quota, retryAfterSeconds: undefined } };
  }
  if (body !== undefined) return { ...reply, content: body };
  if (transform === undefined || !isRecord(reply.content)) return reply;
  // A copy: the transform may alter its argument, and the records inside are the emulator's own.
  const copy: JsonBody = structuredClone(reply.content);
  return { ...reply, content: atOnce(transform(copy, request), "what fault.transform returns") };
}

const CODES: Readonly<Record<number, string>> = {
  400: "bad_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  408: "request_timeout",
  409: "conflict",
  422: "invalid_request",
  429: "too_many_requests",
  500: "internal_error",
  502: "bad_gateway",
  503: "service_unavailable",
  504: "gateway_timeout",
};

/** The body of a scripted status that brings none of its own: an error from 400 on, else nothing. */
function scriptedBody(status: number): unknown {
  if (status < 400) return undefined;
  return { error: CODES[status] ?? `status_${status}`, message: "a scripted fault" };
}
