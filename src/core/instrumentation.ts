import type { CallOutcome, OutcomeEvent } from "./call/outcome.ts";
import { ignoreErrors } from "./checks/ignore-errors.ts";
import type { AnyAutomationError } from "./errors/classes.ts";
import type { ClientEvent, Waits } from "./events.ts";
import { parseHeaders } from "./wire/headers.ts";

/** A call that begins. It holds no secret, and its path is a template. */
export interface CallStart {
  /** Unique in the process; the one in events. */
  readonly callId: string;
  /** Such as `"issues.create"`. */
  readonly operation: string;
  /** The HTTP method. */
  readonly method: string;
  /** The path's template: that of the API documentation, or with `{}` for each value of a custom path. */
  readonly path: string;
  /** Base URL of the client, without trailing slashes. */
  readonly baseUrl: string;
}

/** Follows one call. What its methods throw or reject with is ignored, and nothing waits for them. */
export interface CallObserver {
  /** Called with each event of this call. */
  event?: ((event: ClientEvent) => unknown) | undefined;
  /**
   * Returns headers to send with the attempt that is about to be sent, such as `traceparent`. `authorization`, `cookie`,
   * `host`, and values that are not strings, are left out.
   */
  headers?: (() => Readonly<Record<string, string>> | undefined) | undefined;
  /** `send` sends the attempt; it may be called here in another context. The attempt is sent once in any case. */
  around?: ((send: () => void) => unknown) | undefined;
  /**
   * The call is over. `error`: what it rejects with, if it does. `waited`: how long it waited for a last attempt that was
   * not sent.
   */
  end?: ((error: AnyAutomationError | undefined, waited: Waits | undefined) => unknown) | undefined;
}

/** Follows the calls of a client from beginning to end, for traces and metrics. */
export interface Instrumentation {
  /** Called when a call begins, in the context that makes it. Returns what follows the call, or `undefined`. */
  begin(call: CallStart): CallObserver | undefined;
}

export interface InnerObserver {
  /** Awaited when the turn of a request has come, and again with another token. What it throws ends the call as it is. */
  beforeRequest?(token: string): Promise<void>;
  /** An event has changed the outcome of the call. The call may go on. */
  outcome?(outcome: CallOutcome, event: OutcomeEvent): void;
  end?(end: CallEnd): void;
}

/** The end of a call: what it rejects with, or what it resolves with. */
export interface CallEnd {
  readonly error: AnyAutomationError | undefined;
  readonly output?: unknown;
}

/**
 * An instrumentation of another part of the package, which lies below the caller's own hooks and takes part: its signal ends
 * each call, and so does an error of this library that `begin` throws.
 */
export interface InnerInstrumentation {
  readonly signal?: AbortSignal | undefined;
  begin(call: CallStart): InnerObserver | undefined;
}

/** Follows a call for all observers. None of its methods throws. */
export interface CombinedObserver
  extends Required<{ [Method in keyof CallObserver]: NonNullable<CallObserver[Method]> }> {
  headers: () => Readonly<Record<string, string>>;
}

export interface CombinedInstrumentation {
  begin(call: CallStart): CombinedObserver;
}

export type CallId = Pick<CallStart, "callId" | "operation">;

/** Runs a function of the application that sees a call and must not break it. The logger gets its error once for each `hook`. */
export type RunHook = (hook: string, call: CallId, run: () => unknown) => void;

/** Makes the runner of a client's hooks; `tell` writes the failure of one. */
export function createRunHook(tell: (hook: string, call: CallId, error: unknown) => unknown): RunHook {
  const told = new Set<string>();
  return (hook, call, run) =>
    void ignoreErrors(run, (error) => {
      if (told.has(hook)) return;
      told.add(hook);
      ignoreErrors(() => tell(hook, call, error));
    });
}

/** Combines several into one, none of which can break a call; `undefined` where there is none. */
export function combine(several: readonly (Instrumentation | undefined)[]): CombinedInstrumentation | undefined {
  const present = several.filter((one) => one !== undefined);
  if (present.length === 0) return undefined;
  return {
    begin(call) {
      // From JavaScript an observer may also be `null`.
      const observers = present.map((one) => ignoreErrors(() => one.begin({ ...call }))).filter((one) => one != null);
      const each = <Result>(tell: (observer: CallObserver) => Result): (Result | undefined)[] =>
        observers.map((observer) => ignoreErrors(() => tell(observer)));
      return {
        // Each has its own copy, so that one cannot change what the next one sees.
        event: (event) => void each((observer) => observer.event?.({ ...event })),
        headers: () =>
          Object.assign({}, ...each((observer) => observer.headers?.()).map(readable)) as Record<string, string>, // as they were read
        around(send) {
          const outermost = observers.reduceRight<() => void>((inner, observer) => {
            return () => void ignoreErrors(() => (observer.around === undefined ? inner() : observer.around(inner)));
          }, send);
          outermost();
        },
        end: (error, waited) => void each((observer) => observer.end?.(error, waited && { ...waited })),
      };
    },
  };
}

/** The headers among those that an observer wants to send along; the rest is left out. */
function readable(wanted: Readonly<Record<string, unknown>> | undefined): Readonly<Record<string, string>> {
  const headers = Object.entries(wanted ?? {}).map(([name, value]) =>
    typeof value === "string" ? ignoreErrors(() => parseHeaders({ [name]: value })) : undefined,
  );
  return Object.assign({}, ...headers) as Record<string, string>; // as they were read
}
