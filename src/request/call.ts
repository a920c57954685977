import type { Credential } from "../auth/credential.ts";
import type { TimeoutPhase } from "../errors/automation-error.ts";
import type { AnyAutomationError } from "../errors/guard.ts";
import type { Instrumentation } from "../instrumentation.ts";
import { quietly } from "../quietly.ts";
import type { Pause, RateLimitedCall, RateLimiter, Turn } from "../rate-limit/rate-limiter.ts";
import { Budget } from "./budget.ts";
import { settingsOf } from "./call-options.ts";
import type { CallOptions, Operation, ResponseInfo } from "./operation.ts";
import { encodePath } from "./path.ts";
import { Progress } from "./progress.ts";
import { encodeQuery } from "./query.ts";
import { type Journal, Report } from "./report.ts";
import type { CallSettings, RetryRules } from "./settings.ts";

/** What the pipeline needs of a client. Settings are checked, and changed by nobody. */
export interface Pipeline extends CallSettings {
  readonly baseUrl: string;
  /** The caller's; the global one is looked up at each call. */
  readonly fetch: typeof fetch | undefined;
  readonly credential: Credential;
  readonly rateLimiter: RateLimiter;
  readonly maxConcurrency: number;
  readonly validation: "strict" | "lenient";
  readonly instrumentation: Instrumentation | undefined;
  readonly journal: Journal;
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
  readonly budget: Budget;
  readonly callerSignal: AbortSignal | undefined;
  readonly progress: Progress = new Progress();
  /** Tells those who follow the call, where there are any. */
  readonly report: Report | undefined;
  readonly #onResponse: CallOptions["onResponse"];
  #turn: Turn | undefined;

  constructor(pipeline: Pipeline, operation: Operation<unknown>, options: CallOptions | undefined) {
    const { timeoutMs, totalTimeoutMs, retry, headers, signal, onResponse } = settingsOf(options, pipeline);
    this.pipeline = pipeline;
    this.operation = operation;
    this.url = `${pipeline.baseUrl}${encodePath(operation.path)}${encodeQuery(operation.query)}`;
    this.retry = retry;
    this.timeoutMs = timeoutMs;
    this.headers = headers;
    this.callerSignal = signal;
    this.#onResponse = onResponse;
    this.report = Report.of(operation, pipeline);
    this.budget = Budget.ofCall(totalTimeoutMs, signal);
  }

  /** Its place in line, which it takes with the first attempt. */
  get turn(): Turn {
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

  /** Whether this call waits for such a pause: it may be too long for its settings, or for what is left of its budget. */
  accepts(pause: Pause): boolean {
    return pause.askedMs <= this.retry.maxRetryAfterMs && pause.lastsMs < this.budget.leftMs;
  }

  onPause(delayMs: number): void {
    this.report?.pause(delayMs);
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
    quietly(() => onResponse(info));
  }
}
