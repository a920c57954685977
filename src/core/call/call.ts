import type { AutomationError } from "../errors/automation-error.ts";
import type { AnyAutomationError } from "../errors/classes.ts";
import type { InnerObserver } from "../instrumentation.ts";
import type { ReportedPause } from "../rate-limit/rate-limiter.ts";
import { Redactor } from "../secrets/redact.ts";
import { Deadline } from "../time/deadline.ts";
import { containsToken } from "../token/token-format.ts";
import type { ResponseHead } from "../wire/head.ts";
import type { FetchFunction } from "../wire/http-request.ts";
import { writeJson } from "../wire/json.ts";
import { encodePath } from "../wire/path.ts";
import { apiResponse } from "./api-promise.ts";
import { CallEvents } from "./call-events.ts";
import type { Operation, Origin } from "./operation.ts";
import { type CallOutcome, NOTHING_SENT, type OutcomeEvent, outcomeAfter } from "./outcome.ts";
import { type Context, mergeSettings } from "./settings.ts";

export interface Unauthorized {
  readonly token: string;
  readonly error: AutomationError;
}

export interface Received {
  readonly head: ResponseHead;
  readonly text?: string | undefined;
  /** The body says that the answer is the service's; `undefined` if too little of a success has come. */
  readonly isFromService?: boolean | undefined;
  /** The body of a response that is no success, as JSON, else as text; `undefined` if none came within a moment. */
  readonly body?: unknown;
  readonly pause?: ReportedPause | undefined;
}

export class Call {
  readonly operation: Operation<unknown>;
  readonly settings: Context;
  readonly id: string = nextCallId();
  /** The body: text already, so that each request sends the same bytes. */
  readonly body: string | undefined;
  /** Sends all its requests, also if the global one is replaced meanwhile: a test's mock must not end as the platform's. */
  readonly fetch: FetchFunction | undefined;
  readonly deadline: Deadline;
  requests = 0;
  outcome: CallOutcome = NOTHING_SENT;
  latestResponse: ResponseHead | undefined;
  /** The cause of a later error: why the call waits or is sent again. */
  lastFailure: AutomationError | undefined;
  unauthorized: Unauthorized | undefined;
  readonly events: CallEvents | undefined;
  inner: InnerObserver | undefined;
  readonly #target: string;
  /** Nothing that is shown may contain one. */
  readonly #tokens = new Set<string>();

  constructor(client: Context, operation: Operation<unknown>, { outer, fetch }: Omit<Origin<never>, "progress">) {
    this.operation = operation;
    this.settings = mergeSettings<Context>(operation.options, client);
    this.fetch = client.fetch ?? fetch ?? globalThis.fetch;
    this.body = operation.json === undefined ? undefined : writeJson(operation.json, "json");
    this.#target = encodePath(operation.path) + (operation.query ? `?${operation.query}` : "");
    const { totalTimeoutMs, signal, inner } = this.settings;
    this.deadline = Deadline.of(totalTimeoutMs, signal, inner?.signal, outer);
    // Last, so that nothing has begun for its observers if its signal fails.
    this.events = client.observers && new CallEvents(this, client.observers);
  }

  get url(): string {
    return this.settings.baseUrl + this.#target;
  }

  /** The call begins, with valid arguments. Another part of the package may refuse it. */
  begin(): void {
    const { id, operation, settings } = this;
    const { name, method, path } = operation;
    const { baseUrl, inner } = settings;
    this.inner = inner?.begin({ callId: id, operation: name, method, path: path.template, baseUrl });
  }

  note(event: OutcomeEvent): void {
    this.outcome = outcomeAfter(this.outcome, event);
    this.inner?.outcome?.(this.outcome, event);
  }

  get redactor(): Redactor {
    const { tokenSource, headers } = this.settings;
    return new Redactor({ tokens: new Set(this.#tokens).add(tokenSource.current), headers });
  }

  /** `true` if the URL holds the token that the call is about to be sent with, or another one of its form. */
  urlContainsSecret(token: string): boolean {
    this.#tokens.add(token);
    return containsToken(this.#target, token);
  }

  /**
   * The call is over: it rejects with `error`, or resolves with `output`. Frees everything, and shows the caller the latest
   * response's metadata, if there is one and the caller asked for it.
   */
  finish(error: AnyAutomationError | undefined, output: unknown): void {
    this.deadline.release();
    const { latestResponse, requests } = this;
    this.events?.end(error, { attempts: requests, status: latestResponse?.status });
    const { onResponse, runHook } = this.settings;
    this.inner?.end?.({ error, output });
    if (latestResponse === undefined || onResponse === undefined) return;
    const info = { ...apiResponse(this, latestResponse), callId: this.id };
    runHook("onResponse", { callId: this.id, operation: this.operation.name }, () => onResponse(info));
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
