import { contentTypeOf, encodeBody, isBodiless } from "./bodies.ts";
import { isRecord } from "./checks.ts";
import type { Answer, Delivery } from "./exchange.ts";
import type { Fault } from "./faults.ts";
import { scriptHeaders, setQuota } from "./headers.ts";
import type { Quota } from "./rate-limit.ts";

/** What the service has to say, before it is put on the wire. */
export interface Reply {
  readonly status: number;
  /** What `encodeBody` takes. */
  readonly content: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly quota: Quota;
}

/** What every response carries beside its reply. */
export interface Envelope {
  readonly now: number;
  readonly requestId: string;
  readonly fault?: Fault | undefined;
}

/** The code that an error body carries. */
export function codeOf(content: unknown): string | undefined {
  const code = isRecord(content) ? content["error"] : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Puts a reply on the wire, in the way its fault asks for. */
export function toAnswer(reply: Reply, envelope: Envelope): Omit<Answer, "settle"> {
  const { fault } = envelope;
  const body = isBodiless(reply.status) ? undefined : encodeBody(reply.content);
  const headers = new Headers(reply.headers);
  const delivery = deliveryOf(fault);
  if (body !== undefined) {
    headers.set("content-type", contentTypeOf(reply.content));
    headers.set("content-length", String(lengthToTell(body, delivery)));
  }
  headers.set("date", new Date(envelope.now).toUTCString());
  headers.set("x-request-id", envelope.requestId);
  setQuota(headers, reply.quota);
  const omitted = scriptHeaders(headers, fault?.headers ?? {});
  return { status: reply.status, headers, omitted, body, delivery };
}

/** Of a body that is broken off, always more than is sent, so that nobody can take it for a whole one. */
function lengthToTell(body: Uint8Array, { cutAfterBytes, stallAfterBytes }: Delivery): number {
  const sent = cutAfterBytes ?? stallAfterBytes;
  return sent === undefined ? body.length : Math.max(body.length, sent + 1);
}

function deliveryOf(fault: Fault | undefined): Delivery {
  return {
    delayMs: fault?.delayMs ?? 0,
    dropped: fault?.drop !== undefined,
    cutAfterBytes: fault?.cutAfterBytes,
    stallAfterBytes: fault?.stallAfterBytes,
  };
}
