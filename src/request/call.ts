import type { Credential } from "../auth/credential.ts";
import type { TimeoutPhase } from "../errors/automation-error.ts";
import { ArgumentError } from "../errors/failures.ts";
import type { RateLimitError } from "../errors/refusals.ts";
import { type ClientEvent, type EventListener, quietly } from "../events.ts";
import type { Pause, RateLimiter, Turn } from "../rate-limit/rate-limiter.ts";
import { Budget } from "./budget.ts";
import type { Fault } from "./connection-fault.ts";
import type { CallOptions, Operation, ResponseInfo } from "./operation.ts";
import { encodePath } from "./path.ts";
import { encodeQuery } from "./query.ts";
import { type RetryRules, SettingsCheck } from "./settings.ts";

/** What the pipeline needs of a client. Settings are checked, and changed by nobody. */
export interface Pipeline {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The caller's; the global one is looked up at each call. */
  readonly fetch: typeof fetch | undefined;
  readonly credential: Credential;
  readonly rateLimiter: RateLimiter;
  readonly maxConcurrency: number;
  readonly timeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly retry: RetryRules;
  readonly lenient: boolean;
  readonly listener: EventListener | undefined;
  readonly journal: Journal;
}

/** What a client remembers from call to call. */
export interface Journal {
  calls: number;
  /** A pause has been reported and its end has not. */
  paused: boolean;
  /** Operations whose deprecation has been reported. */
  readonly deprecated: Set<string>;
}

type FieldsOf<Event> = Event extends ClientEvent ? Omit<Event, "callId" | "operation" | "attempt" | "at"> : never;

const OPTION_KEYS: readonly string[] = ["signal", "timeoutMs", "totalTimeoutMs", "retry", "headers", "onResponse"];
const check: SettingsCheck = new SettingsCheck(ArgumentError);

/** One call on its way through the pipeline: its settings, and what has become of it so far. */
export class Call {
  readonly operation: Operation<unknown>;
  readonly pipeline: Pipeline;
  readonly id: string;
  /** Where it is sent, each time. */
  readonly url: string;
  readonly budget: Budget;
  readonly retry: RetryRules;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The caller's signal. */
  readonly signal: AbortSignal | undefined;
  readonly #onResponse: CallOptions["onResponse"];
  #turn: Turn | undefined;
  #latestResponse: Response | undefined;

  /** Attempts begun. */
  tries = 0;
  /** Requests sent. */
  attempts = 0;
  /** Where the attempt under way is. */
  phase: TimeoutPhase = "queue";
  /** The attempt under way has been sent. */
  sent = false;
  /** The answer to the attempt under way, from its head on. */
  response: Response | undefined;
  /** How long the pause lasts that the answer has begun. */
  pauseMs = 0;
  /** The token of the attempt under way. */
  token = "";
  /** Every token this call was sent with. */
  readonly tokens: Set<string> = new Set();
  /** The 401 that this call was answered, and the token it was sent with, from then on. */
  unauthorized: { readonly error: Error; readonly token: string } | undefined;
  /** It is about to be sent with another token than the one that was answered 401. */
  renewing = false;
  /** An earlier attempt may have been applied. */
  ambiguous = false;
  /** An earlier attempt was refused. */
  refusedBefore = false;
  /** Failures that may pass, so far. */
  failures = 0;
  /** 429s so far. */
  refusals = 0;
  /** The rate limiter would not let it go on. */
  heldBack = false;
  /** The latest 429. */
  refusal: RateLimitError | undefined;
  lastFailure: Error | undefined;
  fault: Fault | undefined;

  constructor(pipeline: Pipeline, operation: Operation<unknown>, options: CallOptions | undefined) {
    const given = options === undefined ? {} : options;
    check.object(given, "call options", OPTION_KEYS);
    this.pipeline = pipeline;
    this.operation = operation;
    this.url = `${pipeline.baseUrl}${encodePath(operation.path)}${encodeQuery(operation.query)}`;
    this.retry = check.retry(given.retry, pipeline.retry);
    this.timeoutMs = given.timeoutMs === undefined ? pipeline.timeoutMs : check.timeout(given.timeoutMs, "timeoutMs");
    this.headers =
      given.headers === undefined ? pipeline.headers : { ...pipeline.headers, ...check.headers(given.headers) };
    this.#onResponse = check.callback(given.onResponse, "onResponse");
    const totalMs =
      given.totalTimeoutMs === undefined
        ? pipeline.totalTimeoutMs
        : check.timeout(given.totalTimeoutMs, "totalTimeoutMs");
    pipeline.journal.calls += 1;
    this.id = `call_${pipeline.journal.calls}`;
    this.signal = check.signal(given.signal);
    this.budget = Budget.ofCall(totalMs, this.signal);
  }

  /** Its place in line, which it takes with the first attempt. */
  takeTurn(): Turn {
    const { rateLimiter, credential, maxConcurrency } = this.pipeline;
    this.#turn ??= rateLimiter.enter({
      token: () => credential.current,
      maxConcurrency,
      maxPauses: this.retry.rateLimitWaits,
      signal: this.budget.signal,
      accepts: (pause) => this.accepts(pause),
      onPause: (delayMs) => this.notePause(delayMs),
    });
    return this.#turn;
  }

  /** Whether it changes anything, so that sending it twice might matter. */
  get isWrite(): boolean {
    return this.operation.method !== "GET" && this.operation.method !== "HEAD";
  }

  /** Whether this call waits for such a pause: it may be too long for its settings, or for what is left of its budget. */
  accepts(pause: Pause): boolean {
    return pause.askedMs <= this.retry.maxRetryAfterMs && pause.lastsMs < this.budget.leftMs;
  }

  /** A new stage of the call. What an earlier attempt was answered says nothing about it. */
  begin(phase: TimeoutPhase): void {
    this.phase = phase;
    if (phase !== "queue" && phase !== "total") return;
    this.sent = false;
    this.response = undefined;
    this.fault = undefined;
  }

  /** The head of an answer has come. */
  answered(response: Response): void {
    this.response = response;
    this.#latestResponse = response;
    if (this.pipeline.listener !== undefined) this.#noteDeprecation(response.headers);
  }

  /** Tells the listener, if there is one. */
  emit(fields: FieldsOf<ClientEvent>): void {
    const { listener } = this.pipeline;
    if (listener === undefined) return;
    const base = { callId: this.id, operation: this.operation.name, attempt: this.tries, at: Date.now() };
    listener({ ...fields, ...base });
  }

  /** Reports a pause, unless this client has reported it already. */
  notePause(delayMs: number): void {
    if (this.pipeline.journal.paused) return;
    this.pipeline.journal.paused = true;
    this.emit({ type: "rate_limit_pause", delayMs });
  }

  /** Reports that the reported pause is over. */
  noteResume(): void {
    if (!this.pipeline.journal.paused) return;
    this.pipeline.journal.paused = false;
    this.emit({ type: "rate_limit_resume" });
  }

  #noteDeprecation(headers: Headers): void {
    const deprecation = headers.get("deprecation") ?? undefined;
    const sunset = headers.get("sunset") ?? undefined;
    const { deprecated } = this.pipeline.journal;
    if ((deprecation === undefined && sunset === undefined) || deprecated.has(this.operation.name)) return;
    deprecated.add(this.operation.name);
    this.emit({ type: "deprecation", deprecation, sunset });
  }

  /** Shows the caller the final answer's metadata, if there is an answer and the caller wants it; then frees everything. */
  finish(): void {
    this.budget.release();
    const response = this.#latestResponse;
    const onResponse = this.#onResponse;
    if (response === undefined || onResponse === undefined) return;
    const { status, headers } = response;
    const info: ResponseInfo = { status, headers, attempts: this.attempts, url: this.url };
    quietly(() => onResponse(info));
  }
}
