import type { TokenSource } from "../auth/token-source.ts";
import type { TimeoutPhase } from "../errors/automation-error.ts";
import type { AnyAutomationError } from "../errors/guard.ts";
import { ignoreErrors } from "../ignore-errors.ts";
import type { Instrumentation } from "../instrumentation.ts";
import type { Permit, RateLimitedCall, RateLimiter } from "../rate-limit/rate-limiter.ts";
import { CallEvents, type Journal } from "./call-events.ts";
import { settingsOf } from "./call-options.ts";
import { Deadline } from "./deadline.ts";
import type { CallOptions, Operation, ResponseInfo } from "./operation.ts";
import { encodePath } from "./path.ts";
import { Progress } from "./progress.ts";
import { encodeQuery } from "./query.ts";
import type { CallSettings, RetryRules } from "./settings.ts";

/** What the pipeline needs of a client. Settings are checked, and changed by nobody. */
export interface Pipeline extends CallSettings {
  readonly baseUrl: string;
  /** The caller's; the global one is looked up at each call. */
  readonly fetch: typeof fetch | undefined;
  readonly credential: TokenSource;
  readonly rateLimiter: RateLimiter;
  readonly maxConcurrency: number;
  readonly validation: "strict" | "lenient";
  readonly instrumentation: Instrumentation | undefined;
  readonly journal: Journal;
}

let calls = 0;

/** Unique in the process: copies of the package differ in the random part. */
const copy = Math.random().toString(36).slice(2, 8);

function nextCallId(): string {
  calls += 1;
  return `call_${copy}_${calls}`;
}

/** One call: what is asked for and by which rules, none of which changes, and its `progress`, which does. */
export class Call implements RateLimitedCall {
  readonly operation: Operation<unknown>;
  readonly pipeline: Pipeline;
  /** Where it is sent, each time. */
  readonly url: string;
  readonly retry: RetryRules;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The caller's signal, and `totalTimeoutMs`. */
  readonly budget: Deadline;
  readonly callerSignal: AbortSignal | undefined;
  readonly progress: Progress = new Progress();
  /** Tells those who follow the call, where there are any. */
  readonly report: CallEvents | undefined;
  readonly onRequest: CallOptions["onRequest"];
  readonly callId: string = nextCallId();
  readonly #onResponse: CallOptions["onResponse"];
  #turn: Permit | undefined;

  constructor(pipeline: Pipeline, operation: Operation<unknown>, options: CallOptions | undefined) {
    const { timeoutMs, totalTimeoutMs, retry, headers, signal, onRequest, onResponse } = settingsOf(options, pipeline);
    this.pipeline = pipeline;
    this.operation = operation;
    this.url = `${pipeline.baseUrl}${encodePath(operation.path)}${encodeQuery(operation.query)}`;
    this.retry = retry;
    this.timeoutMs = timeoutMs;
    this.headers = headers;
    this.callerSignal = signal;
    this.onRequest = onRequest;
    this.#onResponse = onResponse;
    this.report = CallEvents.of(operation, pipeline, this.callId);
    this.budget = Deadline.ofCall(totalTimeoutMs, signal);
  }

  /** Its place in line, which it takes with the first attempt. */
  get turn(): Permit {
    this.#turn ??= this.pipeline.rateLimiter.enter(this);
    return this.#turn;
  }

  token(): string {
    return this.pipeline.credential.current;
  }

  get maxConcurrency(): number {
    return this.pipeline.maxConcurrency;
  }

  get maxPauses(): number {
    return this.retry.rateLimitWaits;
  }

  get signal(): AbortSignal {
    return this.budget.signal;
  }

  get maxPauseMs(): number {
    return this.retry.maxRetryAfterMs;
  }

  get endsAt(): number {
    return this.budget.endsAt;
  }

  /** The call goes on to another stage. */
  enter(phase: TimeoutPhase): void {
    this.progress.enter(phase);
    this.report?.enter(phase);
  }

  /** Whether it changes anything, so that sending it twice might matter. */
  get isWrite(): boolean {
    return this.operation.method !== "GET" && this.operation.method !== "HEAD";
  }

  /**
   * The call is over, and `error` is what it rejects with: frees everything, and shows the caller the latest answer's
   * metadata, if there is one and the caller wants it.
   */
  finish(error: AnyAutomationError | undefined): void {
    this.budget.release();
    this.report?.end(error);
    const { latestResponse, requests } = this.progress;
    const onResponse = this.#onResponse;
    if (latestResponse === undefined || onResponse === undefined) return;
    const { status, headers } = latestResponse;
    const info: ResponseInfo = { status, headers, attempts: requests, url: this.url };
    ignoreErrors(() => onResponse(info));
  }
}
