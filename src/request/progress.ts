import { AuthenticationError, RateLimitError } from "../errors/api-errors.ts";
import type { AutomationError, TimeoutPhase } from "../errors/automation-error.ts";
import type { Fault } from "./connection-fault.ts";

/** What has become of a call so far. The pipeline writes it; verdicts and errors read it. */
export class Progress {
  /** Where the attempt under way is. */
  phase: TimeoutPhase = "queue";
  /** The attempt under way has been sent. */
  sent = false;
  /** The answer to the attempt under way, from its head on. */
  response: Response | undefined;
  /** How its connection failed. */
  fault: Fault | undefined;
  /** How long the pause lasts that its answer has begun. */
  pauseMs = 0;

  /** Requests sent. */
  requests = 0;
  /** The tokens that were to be sent, the latest last. */
  readonly tokens: string[] = [];
  latestResponse: Response | undefined;
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
  lastFailure: AutomationError | undefined;

  get token(): string {
    return this.tokens.at(-1) ?? "";
  }

  /** A new stage. What an earlier attempt was answered says nothing about a new one. */
  enter(phase: TimeoutPhase): void {
    this.phase = phase;
    if (phase !== "queue" && phase !== "total") return;
    this.sent = false;
    this.response = undefined;
    this.fault = undefined;
  }

  fail(error: AutomationError): void {
    this.lastFailure = error;
    if (error.outcome === "unknown") this.ambiguous = true;
    if (error.outcome === "rejected") this.refusedBefore = true;
    if (error instanceof RateLimitError) {
      this.refusals += 1;
    } else if (!(error instanceof AuthenticationError)) {
      this.failures += 1;
    }
  }
}
