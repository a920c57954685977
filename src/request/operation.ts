import type { StandardSchema } from "../schemas/standard-schema.ts";
import type { Scope } from "../scopes.ts";
import type { Path } from "./path.ts";
import type { Query } from "./query.ts";
import type { HeadersInput, RetryOptions } from "./settings.ts";

/** HTTP methods that the client sends. */
export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The metadata of a call's final answer. */
export interface ResponseInfo {
  /** HTTP status. */
  readonly status: number;
  /** The answer's headers, all of them: also those that should not be logged. */
  readonly headers: Headers;
  /** How many requests of this call were sent. */
  readonly attempts: number;
  /** The URL that was asked. */
  readonly url: string;
}

/** The request that `onRequest` is called for. */
export interface RequestInfo {
  /** Which request of the call it is, from 1. */
  readonly attempt: number;
  /** The call's id, as in events. */
  readonly callId: string;
  /** Such as `"issues.create"`. */
  readonly operation: string;
}

/** What every method takes as its last argument. Every property may be left out. */
export interface CallOptions {
  /** Ends the call at once, whatever it is doing or waiting for: it rejects with `AbortError`. */
  signal?: AbortSignal | undefined;
  /** Deadline of one attempt in milliseconds: token provider, connect, headers and body. `false`: none. */
  timeoutMs?: number | false | undefined;
  /** Deadline of the whole call in milliseconds: queueing, waits, every attempt. In a walk, per page. `false`: none. */
  totalTimeoutMs?: number | false | undefined;
  /** Laid over the client's `retry`; `false` sends one request, whatever comes of it. */
  retry?: RetryOptions | false | undefined;
  /** Laid over the client's `headers`. `authorization`, `cookie` and `host` are refused. */
  headers?: HeadersInput | undefined;
  /**
   * Awaited before each request is sent, when its slot and its token are there, so that nothing stands between it and
   * the request. What it throws or rejects with ends the call as `AbortError` with that `cause`, and nothing is sent.
   */
  onRequest?: ((request: RequestInfo) => unknown) | undefined;
  /** Sees the final answer's metadata once, after retries, also of a refusal. What it throws is ignored. */
  onResponse?: ((response: ResponseInfo) => unknown) | undefined;
}

/** One operation of the service as data: what to send, and what to make of the answer. */
export interface Operation<Output> {
  /** Such as `"issues.create"`. */
  readonly name: string;
  readonly method: Method;
  readonly path: Path;
  readonly query?: Query | undefined;
  /** The request's body, already text, so that each attempt sends the same bytes. */
  readonly body?: string | undefined;
  /** What the answer must be; without one it is handed over as parsed. */
  readonly schema?: StandardSchema<Output> | undefined;
  /** What must hold even where validation is lenient. */
  readonly essentials?: StandardSchema | undefined;
  /**
   * What a 2xx body has to be: JSON; JSON or empty, which resolves `undefined`; anything, which resolves `undefined`
   * unless it is JSON; or it does not matter, and resolves `undefined`.
   */
  readonly answer: "json" | "json_or_empty" | "json_if_any" | "none";
  /** The scope that the contract asks for, as a hint in refusals. */
  readonly scope?: Scope | undefined;
  /** It is a page of a walk: what the walk has come to with it, if the call has waited so long. */
  tally?(output: Output, waitedMs: number): WalkTally;
  /** It replaces the token that it is sent with, which decides what is safe to do when it fails. */
  readonly rotatesToken?: boolean | undefined;
}

/** What a walk has come to. */
export interface WalkTally {
  readonly pages: number;
  readonly items: number;
  readonly waitedMs: number;
}

/** Sends an operation through the whole pipeline. Resources get this, and nothing else of the client. */
export type Send = <Output>(operation: () => Operation<Output>, options: CallOptions | undefined) => Promise<Output>;

/** Whether an operation changes something, so that sending it twice might matter. */
export function isWrite({ method }: Pick<Operation<unknown>, "method">): boolean {
  return method !== "GET" && method !== "HEAD";
}
