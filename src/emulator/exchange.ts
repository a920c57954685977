/**
 * The channel between the core and its transports: what a transport passes in, and what it is to send. A response says
 * in plain fields how it travels, so that a fault needs no magic header and every transport can realise it.
 */
import { after } from "../core/time/clock.ts";

/** The most bytes of a request body that any transport reads; a longer one is answered 413. */
export const MAX_BODY_BYTES: number = 1024 * 1024;

export interface IncomingRequest {
  readonly method: string;
  /** Path and query as they were on the request line: not decoded, not normalised. */
  readonly target: string;
  readonly headers: Headers;
  /** The bytes of the body, or `"too large"` if the transport stopped reading. */
  readonly body: Uint8Array<ArrayBuffer> | "too large" | undefined;
}

/** The end of a request, as far as the transport could see. */
export type Ending = "completed" | "cut" | "dropped" | "aborted";

export interface Delivery {
  /** To wait before the first byte; `Infinity` never responds. */
  readonly delayMs: number;
  /** To break the connection in place of a response. */
  readonly dropped: boolean;
  /** To break the connection behind so many bytes of the body. */
  readonly cutAfterBytes: number | undefined;
  /** To send so many bytes of the body, and then nothing more while the connection stays open. */
  readonly stallAfterBytes: number | undefined;
}

export interface OutgoingResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  readonly delivery: Delivery;
  /** To be called once, when the response has left or cannot leave any more. */
  readonly settle: (ending: Ending) => void;
}

/** The core, as a transport sees it: synchronous, so that each request is applied as one step. Throws only if `now` does. */
export interface Core {
  handle(incoming: IncomingRequest): OutgoingResponse;
}

/** Resolves after `ms` (never, for `Infinity`); rejects with the signal's reason as soon as it is aborted. */
export function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener("abort", end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const cancel = after(ms, end);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}
