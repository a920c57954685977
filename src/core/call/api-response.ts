import { ignoreErrors } from "../checks/ignore-errors.ts";
import type { Redactor } from "../secrets/redact.ts";
import type { ResponseHead } from "../wire/head.ts";
import type { ApiResponse } from "./api-promise.ts";

/** A call that has been answered. */
interface AnsweredCall {
  readonly history: { readonly requests: number };
  readonly redactor: Redactor;
  readonly url: string;
}

/** The final response of a call, as its caller may keep and log it. */
export function apiResponse(
  { history, redactor, url }: AnsweredCall,
  { status, headers: received }: ResponseHead,
): ApiResponse {
  const headers = new Headers();
  // The `fetch` of the application may return a map of anything. An entry that the platform refuses is no header.
  (received as Partial<Headers>).forEach?.((value, name) => {
    ignoreErrors(() => redactor.holdsToken(String(value)) || headers.append(name, value));
  });
  headers.delete("set-cookie");
  const requestId = redactor.short(received.get("x-request-id"));
  return { status, headers, requestId, url, attempts: history.requests };
}
