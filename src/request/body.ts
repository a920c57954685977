import { ignoreErrors } from "../ignore-errors.ts";
import type { Deadline } from "./deadline.ts";
import { STOPPED } from "./deadline.ts";

/** At most so much of a refusal's body is read. */
const MAX_REFUSAL_BYTES = 64 * 1024;
/** A refusal is worth reporting without its body: it is not waited for longer than this. */
const REFUSAL_BODY_MS = 1_000;
/** The body of a 429 even less, since the call waits to be sent again. */
const RATE_LIMIT_BODY_MS = 250;

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** What reading the body of a success came to. `text`: the part that was received. */
export type BodyText =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "oversized" }
  | { readonly kind: "cut"; readonly text: string; readonly cause: unknown }
  | { readonly kind: "stopped"; readonly text: string };

/** The text of a success's body, at most `maxBytes` of it after decompression. */
export async function readText(response: Response, deadline: Deadline, maxBytes: number): Promise<BodyText> {
  if (isTaken(response)) return { kind: "cut", text: "", cause: new TypeError(TAKEN) };
  let text = "";
  let reader: Reader | undefined;
  try {
    reader = readerOf(response);
    if (reader === undefined) {
      const whole = await readWhole(response, deadline);
      return isLarger(whole, maxBytes) ? { kind: "oversized" } : { kind: "whole", text: whole };
    }
    const decoder = new TextDecoder();
    let bytes = 0;
    for (;;) {
      const { done, value } = await deadline.race(reader.read());
      if (done) return { kind: "whole", text: text + decoder.decode() };
      bytes += value.byteLength;
      if (bytes > maxBytes) break;
      text += decoder.decode(value, { stream: true });
    }
    cancel(reader);
    return { kind: "oversized" };
  } catch (cause) {
    cancel(reader);
    return cause === STOPPED ? { kind: "stopped", text } : { kind: "cut", text, cause };
  }
}

/** The text of a refusal's body, if all of it comes within a moment and is no larger than 64 KiB. Never rejects. */
export async function readBriefly(response: Response, deadline: Deadline): Promise<string | undefined> {
  if (isTaken(response)) return undefined;
  const patience = deadline.within(response.status === 429 ? RATE_LIMIT_BODY_MS : REFUSAL_BODY_MS);
  let reader: Reader | undefined;
  try {
    reader = readerOf(response);
    if (reader === undefined) {
      const whole = await readWhole(response, patience);
      return isLarger(whole, MAX_REFUSAL_BYTES) ? undefined : whole;
    }
    const decoder = new TextDecoder();
    let text = "";
    let bytes = 0;
    for (;;) {
      const { done, value } = await patience.race(reader.read());
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > MAX_REFUSAL_BYTES) return undefined;
      text += decoder.decode(value, { stream: true });
      // A complete object is enough, also where the service leaves the stream open.
      if (isWholeObject(text)) return text;
    }
  } catch {
    return undefined;
  } finally {
    patience.release();
    // Frees the connection where something is left; where nothing is, it does nothing.
    cancel(reader);
  }
}

const TAKEN = "the fetch option returned a response whose body was read already: read a clone() of it instead";

/** Whether a caller's `fetch` has read the body already. */
function isTaken({ body, bodyUsed }: Response): boolean {
  return Boolean(bodyUsed || body?.locked); // mocks may have neither
}

/** The reader of a web stream. Other implementations of `fetch` have streams of their own, or none: `text()` reads those. */
function readerOf({ body }: Response): Reader | undefined {
  return typeof body?.getReader === "function" ? body.getReader() : undefined;
}

/** Whether a text is larger than so many bytes in UTF-8, in which a UTF-16 unit has three at most. */
function isLarger(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes || text.length * 3 <= maxBytes) return text.length > maxBytes;
  return new TextEncoder().encode(text).byteLength > maxBytes;
}

async function readWhole(response: Response, deadline: Deadline): Promise<string> {
  const whole: unknown = await deadline.race(Promise.resolve(response.text()));
  if (typeof whole === "string") return whole;
  throw new TypeError("text() of the response resolved with something that is not a string");
}

function cancel(reader: Reader | undefined): void {
  ignoreErrors(() => reader?.cancel());
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
