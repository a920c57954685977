import type { TokenSource } from "../auth/token-source.ts";
import type { AnyAutomationError } from "../errors/guard.ts";
import { ignoreErrors } from "../ignore-errors.ts";
import type { Instrumentation } from "../instrumentation.ts";
import type { Permit, RateLimiter } from "../rate-limit/rate-limiter.ts";
import { CallEvents, type Notices } from "./call-events.ts";
import { CallHistory } from "./call-history.ts";
import { settingsOf } from "./call-options.ts";
import { Deadline } from "./deadline.ts";
import type { CallFacts } from "./error-details.ts";
import type { SendHttp } from "./http-request.ts";
import type { CallOptions, Operation } from "./operation.ts";
import { encodePath } from "./path.ts";
import { encodeQuery } from "./query.ts";
import { Redactor } from "./redact.ts";
import type { CallSettings } from "./settings.ts";

/** What the request path needs of a client. Settings are checked, and never change. */
export interface Pipeline extends CallSettings {
  readonly baseUrl: string;
  /** The host and port of `baseUrl`, for errors. */
  readonly host: string;
  readonly http: SendHttp;
  readonly tokenSource: TokenSource;
  readonly rateLimiter: RateLimiter;
  readonly maxConcurrency: number;
  readonly maxResponseBytes: number;
  readonly validation: "strict" | "lenient";
  readonly instrumentation: Instrumentation | undefined;
  readonly notices: Notices;
}

/** One call: what is asked for and with which settings, none of which changes, and its `history`, which does. */
export class Call {
  readonly operation: Operation<unknown>;
  readonly pipeline: Pipeline;
  /** The call's options laid over the settings of its client. */
  readonly settings: CallSettings & Pick<CallOptions, "signal" | "onRequest" | "onResponse">;
  readonly id: string = nextCallId();
  /** Where it is sent, each time. */
  readonly url: string;
  /** The caller's signal, and `totalTimeoutMs`. */
  readonly deadline: Deadline;
  readonly history: CallHistory = new CallHistory();
  /** Its events, where anything listens. */
  readonly events: CallEvents | undefined;
  #permit: Permit | undefined;

  constructor(pipeline: Pipeline, operation: Operation<unknown>, options: CallOptions | undefined) {
    this.pipeline = pipeline;
    this.operation = operation;
    this.settings = settingsOf(options, pipeline);
    this.url = `${pipeline.baseUrl}${encodePath(operation.path)}${encodeQuery(operation.query)}`;
    this.events = CallEvents.begin(this.id, operation, pipeline);
    this.deadline = Deadline.ofCall(this.settings.totalTimeoutMs, this.settings.signal);
  }

  /** Its place in the queue of the rate limiter, which it takes with the first attempt and keeps. */
  get permit(): Permit {
    this.#permit ??= this.#enter();
    return this.#permit;
  }

  /** What errors need to know of it, as it is now. */
  get facts(): CallFacts {
    const { requests, mayBeApplied, wasRejected, lastError, tokens } = this.history;
    const { host, tokenSource } = this.pipeline;
    const redactor = new Redactor([...tokens, tokenSource.current], this.settings.headers);
    return { operation: this.operation, host, attempts: requests, mayBeApplied, wasRejected, lastError, redactor };
  }

  /**
   * The call is over; `error` is what it rejects with. Frees everything, and shows the caller the latest response's
   * metadata, if there is one and the caller asked for it.
   */
  finish(error: AnyAutomationError | undefined): void {
    this.deadline.release();
    this.events?.end(error);
    const { latestResponse, requests } = this.history;
    const { onResponse } = this.settings;
    if (latestResponse === undefined || onResponse === undefined) return;
    const { status, headers } = latestResponse;
    ignoreErrors(() => onResponse({ status, headers, attempts: requests, url: this.url }));
  }

  #enter(): Permit {
    const { deadline, settings, pipeline } = this;
    return pipeline.rateLimiter.enter({
      token: () => pipeline.tokenSource.current,
      maxConcurrency: pipeline.maxConcurrency,
      maxPauses: settings.retry === false ? 0 : settings.retry.rateLimitWaits,
      maxPauseMs: settings.retry === false ? 0 : settings.retry.maxRetryAfterMs,
      endsAt: deadline.endsAt,
      // Made only if the call has to wait.
      get signal() {
        return deadline.signal;
      },
    });
  }
}

let copy: string | undefined;
let calls = 0;

/** Unique in the process: copies of the package differ in the random part. */
function nextCallId(): string {
  copy ??= Math.random().toString(36).slice(2, 8);
  calls += 1;
  return `call_${copy}_${calls}`;
}
