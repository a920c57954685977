import type { OpenWindow } from "../emulator/rate-limit.ts";
import type { RecordedRequest } from "../emulator/request-log.ts";
import type { Unsettled } from "../emulator/response.ts";

export const KEPT_BYTES: number = 16 * 1024;

export interface SentResponse {
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly cut: number;
  /** The window of the token, if the request was refused for that. */
  readonly window: OpenWindow | undefined;
}

interface Slot extends Pick<SentResponse, "headers" | "window"> {
  readonly index: number;
  readonly body: Uint8Array | undefined;
  readonly length: number;
}

export interface KeptBounds {
  /** So many requests ago. */
  readonly requests: number;
  readonly bytes: number;
}

/** The responses to the last requests of one world, within bounds. */
export class Responses {
  readonly #slots: Slot[];

  constructor({ requests, bytes }: KeptBounds) {
    this.#slots = Array<Slot>(Math.min(requests, Math.floor(bytes / KEPT_BYTES)));
  }

  add({ index, status, outcome }: RecordedRequest, response: Unsettled, window: OpenWindow | undefined): void {
    if (status === undefined || outcome === "aborted" || this.#slots.length === 0) return;
    const { headers, body, delivery } = response;
    const { cutAfterBytes = Infinity, stallAfterBytes = Infinity } = delivery;
    const length = Math.min(body?.length ?? 0, cutAfterBytes, stallAfterBytes);
    const kept = body !== undefined && body.length > KEPT_BYTES ? body.slice(0, KEPT_BYTES) : body;
    this.#slots[index % this.#slots.length] = { index, headers, body: kept, length, window };
  }

  get({ index }: Pick<RecordedRequest, "index">): SentResponse | undefined {
    const slot = this.#slots[index % this.#slots.length];
    if (slot?.index !== index) return undefined;
    const { headers, body = new Uint8Array(), length, window } = slot;
    const shown = body.subarray(0, length);
    return { headers, window, body: shown, cut: length - shown.length };
  }
}
