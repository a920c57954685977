import { ignoreErrors } from "../checks/ignore-errors.ts";
import { captureCaller } from "../errors/caller-stack.ts";
import type { Redactor } from "../secrets/redact.ts";
import type { ResponseHead } from "../wire/head.ts";

/** The final response of a call. It holds no credential, so you may log it. */
export interface ApiResponse {
  /** HTTP status. */
  readonly status: number;
  /**
   * A copy of the headers, without `set-cookie`, and without each value that holds a token. If your own `fetch` returns
   * headers without `forEach`, the copy is empty.
   */
  readonly headers: Headers;
  /** The `x-request-id` of the response, as in errors; `undefined` without that header. */
  readonly requestId: string | undefined;
  /** The URL that was asked. */
  readonly url: string;
  /** Requests of this call that were sent. */
  readonly attempts: number;
}

/** The result of a call, and its final response. */
export interface WithResponse<Result> {
  /** The result that the call itself resolves. */
  readonly data: Result;
  /** The final response, after retries. */
  readonly response: ApiResponse;
}

/** The promise of a method that sends one request. It is a promise of the platform with one more method. */
export interface ApiPromise<Result> extends Promise<Result> {
  /**
   * Resolves the result of this call together with its final response. The call is sent once, however often you ask. It
   * rejects with the error of the call. If you handle that, you need not handle the rejection of the call as well.
   *
   * @example
   * const { data, response } = await client.issues.create("web", { title: "Login fails", type: "bug" }).withResponse();
   * console.log(data.number, response.requestId, response.headers.get("ratelimit-remaining"));
   */
  withResponse(): Promise<WithResponse<Result>>;
}

/** A call that has succeeded, and the head of its final response. */
export interface Success<Result> {
  readonly data: Result;
  readonly call: AnsweredCall;
  readonly head: ResponseHead;
}

/** Marks an error that a bulk run reports: its promise may be forgotten. Every copy of this package knows it by this name. */
export const REPORTED: unique symbol = Symbol.for("project-automation.reported"); // a registered symbol is shared by all copies

/** Sends the call of `entry`, a public method. The stack of its error begins in the code that called `entry`. */
export function apiPromise<Result>(entry: CallableFunction, send: () => Promise<Success<Result>>): ApiPromise<Result> {
  const toCaller = captureCaller(entry, apiPromise);
  const success = send();
  const result = success.then(
    ({ data }) => data,
    (error: object) => {
      toCaller(error);
      if (REPORTED in error) result.catch(() => {}); // before the platform looks for a handler
      throw error;
    },
  );
  const withResponse = async (): Promise<WithResponse<Result>> => {
    const data = await result;
    const { call, head } = await success;
    return { data, response: apiResponse(call, head) };
  };
  return Object.defineProperty(result, "withResponse", { value: withResponse }) as ApiPromise<Result>; // now it is one
}

interface AnsweredCall {
  readonly requests: number;
  readonly redactor: Redactor;
  readonly url: string;
}

/** The final response of a call, as its caller may keep and log it. */
export function apiResponse(
  { requests, redactor, url }: AnsweredCall,
  { status, headers: received }: ResponseHead,
): ApiResponse {
  const headers = new Headers();
  // The `fetch` of the application may return a map of anything. An entry that the platform refuses is no header.
  (received as Partial<Headers>).forEach?.((value, name) => {
    ignoreErrors(() => redactor.holdsToken(String(value)) || headers.append(name, value));
  });
  headers.delete("set-cookie");
  const requestId = redactor.short(received.get("x-request-id"));
  return { status, headers, requestId, url, attempts: requests };
}
