import { ignoreErrors } from "../checks/ignore-errors.ts";
import { hasMethods } from "../checks/values.ts";
import { type Deadline, STOPPED } from "../time/deadline.ts";
import { parseJson } from "./json.ts";

const MAX_REFUSAL_BYTES = 64 * 1024;

/** A refusal is worth reporting without its body: it is not waited for longer than this. */
const REFUSAL_BODY_MS = 1_000;

/** The body of a 429 even less, since the call waits to be sent again. */
const RATE_LIMIT_BODY_MS = 250;

/** The result of reading a body. `text`: the part that was received. */
type BodyText =
  | { readonly kind: "whole" | "oversized" | "stopped"; readonly text: string }
  | { readonly kind: "cut"; readonly text: string; readonly cause: unknown };

interface Limits {
  readonly maxBytes: number;
  /** `true` once enough was received, even if the service leaves the stream open. */
  readonly isEnough?: ((text: string) => boolean) | undefined;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

export async function readBody(response: Response, deadline: Deadline, limits: Limits): Promise<BodyText> {
  const received = { text: "" };
  let reader: Reader | undefined;
  try {
    const { body, bodyUsed } = response; // a mock may have no body
    if (bodyUsed || body?.locked)
      throw new TypeError(
        "the fetch option returned a response whose body was read already: read a clone() of it instead",
      );
    // Other implementations of `fetch` have streams of their own, or none: `text()` reads those.
    reader = hasMethods(body, "getReader") ? body?.getReader() : undefined;
    return await deadline.race(
      reader === undefined ? readWhole(response, limits) : readParts(reader, received, limits),
    );
  } catch (cause) {
    return cause === STOPPED ? { kind: "stopped", ...received } : { kind: "cut", ...received, cause };
  } finally {
    void ignoreErrors(() => reader?.cancel());
  }
}

/**
 * A refusal's body, if all of it comes within a moment and is no larger than 64 KiB: parsed if it is JSON, else as text.
 * `undefined` if it is empty. Never rejects.
 */
export async function readRefusal(response: Response, deadline: Deadline): Promise<unknown> {
  const isEnough = (text: string): boolean => /\}\s*$/.test(text) && parseJson(text) !== undefined;
  const body = await readBriefly(response, deadline, isEnough);
  if (body.kind !== "whole" || body.text.trim() === "") return undefined;
  const json = parseJson(body.text);
  return json === undefined ? body.text : json;
}

/** Reads a body that matters little: at most 64 KiB of it, and no longer than a moment. Never rejects. */
export async function readBriefly(
  response: Response,
  deadline: Deadline,
  isEnough: Limits["isEnough"],
): Promise<BodyText> {
  const patience = deadline.within(response.status === 429 ? RATE_LIMIT_BODY_MS : REFUSAL_BODY_MS);
  const body = await readBody(response, patience, { maxBytes: MAX_REFUSAL_BYTES, isEnough });
  patience.release();
  // Where a body has no reader, the signal of its request alone frees what is left of it.
  if (body.kind === "stopped" && !hasMethods(response.body, "getReader")) deadline.end();
  return body;
}

async function readParts(reader: Reader, received: { text: string }, limits: Limits): Promise<BodyText> {
  const decoder = new TextDecoder();
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (!done) {
      // The decoder's own message would quote the part, which may hold a one-time secret.
      if (typeof value?.byteLength !== "number") throw new TypeError("a part of its stream is not bytes");
      // An empty part counts as a byte: an endless stream of empty parts would block the process.
      bytes += value.byteLength || 1;
    }
    received.text += decoder.decode(value, { stream: !done });
    if (bytes > limits.maxBytes) return { kind: "oversized", ...received };
    if (done || limits.isEnough?.(received.text)) return { kind: "whole", ...received };
  }
}

async function readWhole(response: Response, { maxBytes }: Limits): Promise<BodyText> {
  const text: unknown = await response.text();
  if (typeof text !== "string")
    throw new TypeError("text() of the response resolved with something that is not a string");
  // In UTF-8 a UTF-16 unit has three bytes at most.
  const isLarger = text.length * 3 > maxBytes && new TextEncoder().encode(text).byteLength > maxBytes;
  return { kind: isLarger ? "oversized" : "whole", text };
}
