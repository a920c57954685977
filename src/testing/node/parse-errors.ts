import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { setQuota } from "../headers.ts";
import { UNLIMITED } from "../rate-limit.ts";

interface RetryDecision {
  readonly status: string;
  readonly code: string;
  readonly message: string;
}

const MALFORMED: RetryDecision = {
  status: "400 Bad Request",
  code: "bad_request",
  message: "the request is not valid HTTP",
};

const VERDICTS: ReadonlyMap<string, RetryDecision> = new Map([
  [
    "HPE_HEADER_OVERFLOW",
    {
      status: "431 Request Header Fields Too Large",
      code: "headers_too_large",
      message: "the request line and headers are too large",
    },
  ],
  [
    "ERR_HTTP_REQUEST_TIMEOUT",
    { status: "408 Request Timeout", code: "request_timeout", message: "the request did not come in time" },
  ],
]);

/** Answers what is no HTTP, too large or too slow with a JSON error of its own, and closes the connection. */
export function answerParseErrors(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    else socket.end(responseTo(VERDICTS.get(error.code ?? "") ?? MALFORMED), () => socket.destroy());
  });
}

function responseTo({ status, code, message }: RetryDecision): string {
  const body = JSON.stringify({ error: code, message });
  const headers = new Headers({
    connection: "close",
    "content-type": "application/json; charset=utf-8",
    "content-length": String(body.length),
    date: new Date().toUTCString(),
  });
  setQuota(headers, UNLIMITED);
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status}`, ...lines, "", body].join("\r\n");
}
