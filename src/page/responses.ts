import type { OpenWindow } from "../emulator/rate-limit.ts";
import type { RecordedRequest } from "../emulator/request-log.ts";
import type { Unsettled } from "../emulator/response.ts";

export const KEPT_BYTES: number = 16 * 1024;
/** As many as the log of the command holds: a request in it keeps the reason of its refusal. */
const KEPT_RESPONSES = 1_000;

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

/** The responses to the last requests of one world. */
export class Responses {
  readonly #slots = Array<Slot>(KEPT_RESPONSES);

  add({ index, status, outcome }: RecordedRequest, response: Unsettled, window: OpenWindow | undefined): void {
    if (status === undefined || outcome === "aborted" || this.#isPassed(index)) return;
    const { headers, body, delivery } = response;
    const { cutAfterBytes = Infinity, stallAfterBytes = Infinity } = delivery;
    const length = Math.min(body?.length ?? 0, cutAfterBytes, stallAfterBytes);
    const kept = body !== undefined && body.length > KEPT_BYTES ? body.slice(0, KEPT_BYTES) : body;
    this.#slots[index % KEPT_RESPONSES] = { index, headers, body: kept, length, window };
  }

  get({ index }: Pick<RecordedRequest, "index">): SentResponse | undefined {
    const slot = this.#slots[index % KEPT_RESPONSES];
    if (slot?.index !== index) return undefined;
    const { headers, body = new Uint8Array(), length, window } = slot;
    const shown = body.subarray(0, length);
    return { headers, window, body: shown, cut: length - shown.length };
  }

  /** Why the response to a request is not here. */
  missing({ index, outcome, status }: Pick<RecordedRequest, "index" | "outcome" | "status">): string {
    if (outcome === "pending") return "The response has not left yet.";
    if (outcome === "aborted") return "No response: the client left first.";
    if (status === undefined) return "No response: the connection was broken.";
    return this.#isPassed(index)
      ? `It is not kept: the emulator keeps the responses to the last ${KEPT_RESPONSES.toLocaleString("en")} requests.`
      : "It was not kept: no page was in view when the response left.";
  }

  /** A later request has taken its place. */
  #isPassed(index: number): boolean {
    return (this.#slots[index % KEPT_RESPONSES]?.index ?? index) > index;
  }
}
