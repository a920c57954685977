import type { AnyAutomationError } from "./errors/guard.ts";
import type { ClientEvent, Waits } from "./events.ts";
import { ignoreErrors } from "./ignore-errors.ts";

/** A call that begins. Nothing in it is secret, and its path is a template. */
export interface CallStart {
  /** Tells the calls of one client apart; the one in events. */
  readonly callId: string;
  /** Such as `"issues.create"`. */
  readonly operation: string;
  /** The HTTP method. */
  readonly method: string;
  /** The path's template, with `{}` for each value. */
  readonly path: string;
  /** The client's, without trailing slashes. */
  readonly baseUrl: string;
}

/** Is told how one call goes on. What its methods throw or reject with is ignored, and nothing waits for them. */
export interface CallObserver {
  /** What `onEvent` sees, of this call. */
  event?: ((event: ClientEvent) => unknown) | undefined;
  /**
   * Headers to send along with the attempt that is about to be sent, such as `traceparent`. `authorization`, `cookie`,
   * `host`, and what is no string, are left out.
   */
  headers?: (() => Readonly<Record<string, string>> | undefined) | undefined;
  /** `send` sends the attempt, and may be called here in a context of its choice. It is sent once, called or not. */
  around?: ((send: () => void) => unknown) | undefined;
  /**
   * The call is over. `error`: what it rejects with, if it does. `waited`: how long it has waited for an attempt that was
   * not sent any more.
   */
  end?: ((error: AnyAutomationError | undefined, waited: Waits | undefined) => unknown) | undefined;
}

/** Follows the calls of a client from beginning to end, for traces and metrics. */
export interface Instrumentation {
  /** A call begins; runs in the context of whoever calls. Nobody follows it if this gives nothing. */
  begin(call: CallStart): CallObserver | undefined;
}

/** One out of several, none of which can break a call; `undefined` where there is none. */
export function combine(several: readonly (Instrumentation | undefined)[]): Instrumentation | undefined {
  const present = several.filter((one) => one !== undefined);
  if (present.length === 0) return undefined;
  return {
    begin(call) {
      const observers: CallObserver[] = [];
      const each = (tell: (observer: CallObserver) => unknown): void => {
        for (const observer of observers) ignoreErrors(() => tell(observer));
      };
      for (const one of present) {
        ignoreErrors(() => {
          const observer = one.begin({ ...call });
          // From JavaScript it may also be `null`.
          if (observer) observers.push(observer);
        });
      }
      return {
        // Each has its own: what one does to it, the next does not see.
        event: (event) => each((observer) => observer.event?.({ ...event })),
        headers() {
          const headers: Record<string, string> = {};
          each((observer) => void Object.assign(headers, observer.headers?.()));
          return headers;
        },
        around(send) {
          const outermost = observers.reduceRight<() => void>((inner, observer) => {
            return () => ignoreErrors(() => (observer.around === undefined ? inner() : observer.around(inner)));
          }, send);
          outermost();
        },
        end: (error, waited) => each((observer) => observer.end?.(error, waited && { ...waited })),
      };
    },
  };
}
