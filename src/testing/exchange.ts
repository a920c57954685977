/**
 * The channel between the core and its adapters: what a transport hands in, and what it is to do in return. An answer
 * says in plain fields how it travels, so that a fault needs no magic header and every transport can realise it.
 */

/** The most bytes of a request body that any transport takes in; what is longer is answered 413. */
export const MAX_BODY_BYTES: number = 1024 * 1024;

/** A request as a transport received it, whole. */
export interface Incoming {
  readonly method: string;
  /** Path and query as they stood on the request line: not decoded, not normalised. */
  readonly target: string;
  readonly headers: Headers;
  /** The bytes of the body, or `"too large"` where the transport stopped reading. */
  readonly body: Uint8Array<ArrayBuffer> | "too large" | undefined;
}

/** How a request ended, as far as the transport could see. */
export type Ending = "completed" | "cut" | "dropped" | "aborted";

/** How the bytes of an answer travel. */
export interface Delivery {
  /** To wait before the first byte; `Infinity` never answers. */
  readonly delayMs: number;
  /** To break the connection in place of an answer. */
  readonly dropped: boolean;
  /** To break the connection behind so many bytes of the body. */
  readonly cutAfterBytes: number | undefined;
  /** To send so many bytes of the body, and then nothing more while the connection stays open. */
  readonly stallAfterBytes: number | undefined;
}

/** What a transport is to send. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Names, in lower case, of header fields that must be missing, also of those that the transport adds by itself. */
  readonly omitted: readonly string[];
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  readonly delivery: Delivery;
  /** To be called once, when the answer has left or cannot leave any more. */
  readonly settle: (ending: Ending) => void;
}

/** The core, as a transport sees it: synchronous, so that each request is applied as one step. Throws only if `now` does. */
export interface Core {
  handle(incoming: Incoming): Answer;
}
