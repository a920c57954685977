import { Deadline } from "./deadline.ts";
import { DEFAULT_MAX_RESPONSE_BYTES } from "./json.ts";

/** What is read of a refusal's body. */
const MAX_BRIEF_BYTES = 64 * 1024;
/** A refusal's body is a courtesy: it is not waited for longer than this. */
const REFUSAL_BODY_MS = 1_000;
/** A 429's body even less, since the call is waiting to be sent again. */
const RATE_LIMIT_BODY_MS = 250;

/** A body larger than `DEFAULT_MAX_RESPONSE_BYTES`. */
export class BodyTooLarge extends Error {}

/** What has been read so far, for whoever asks when reading fails. */
export interface PartialText {
  text: string;
}

/**
 * The whole text of a success. Rejects with what the transport throws when it is cut, and with `STOPPED` when the budget
 * ends; `partial` then holds what had come.
 */
export async function readText(response: Response, budget: Deadline, partial: PartialText): Promise<string> {
  const stream = response.body;
  // Some platforms have none for an empty body, and some have none at all: there is nothing to count then.
  if (!stream) return await budget.race(response.text());
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await budget.race(reader.read());
      if (done) return partial.text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > DEFAULT_MAX_RESPONSE_BYTES) throw new BodyTooLarge();
      partial.text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
}

/** A body that is a courtesy: as much as comes in a moment, never more than 64 KiB, never a failure. */
export async function readBriefly(response: Response, budget: Deadline): Promise<string | undefined> {
  // Whoever gave the response may have read it already.
  if (!response.body || response.body.locked) return undefined;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const patience = Deadline.within(budget, response.status === 429 ? RATE_LIMIT_BODY_MS : REFUSAL_BODY_MS);
  let text = "";
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await patience.race(reader.read());
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > MAX_BRIEF_BYTES) return undefined;
      text += decoder.decode(value, { stream: true });
      // What is whole is enough, also where the service leaves the stream open.
      if (isWholeObject(text)) return text;
    }
  } catch {
    return undefined;
  } finally {
    patience.release();
    // Frees the connection where something is left; where nothing is, it does nothing.
    reader.cancel().catch(() => {});
  }
}

function isWholeObject(text: string): boolean {
  if (!/\}\s*$/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
