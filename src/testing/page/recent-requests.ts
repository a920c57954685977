import { isRecord } from "../../core/checks/values.ts";
import { parseJson } from "../../core/wire/json.ts";
import type { OutgoingResponse } from "../exchange.ts";
import type { OpenWindow } from "../rate-limit.ts";
import { type RecordedRequest, sizeOf } from "../request-log.ts";
import type { TokenRow } from "../token-tables.ts";
import type { PageMessage, PageRequest } from "./events.ts";
import { fateOf, whyOf } from "./fate.ts";
import { withoutPlaintexts, withoutSecrets } from "./without-tokens.ts";

/** The most requests that are kept. */
const KEPT = 500;
/** The most bytes of a body that are kept. */
const KEPT_BYTES = 16 * 1024;

interface Body {
  readonly text: string;
  readonly cut: number;
}

/** A request as it is kept: what a row is made of when someone looks. */
export interface KeptRequest {
  readonly request: Omit<RecordedRequest, "body" | "query" | "text">;
  readonly sent: Body;
  readonly bytes: number;
  readonly token: TokenRow | undefined;
  /** The window of the token, if the request was refused for it. */
  readonly window: OpenWindow | undefined;
  readonly response: { readonly headers: Headers; readonly body: Uint8Array; readonly cut: number } | undefined;
}

/** The token of a request, and the window of that. */
export type Context = Pick<KeptRequest, "token" | "window">;

/** The last requests of one world, as far as they fit into so many bytes. */
export class RecentRequests {
  readonly #kept = new Map<number, KeptRequest>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Keeps a request as it is now, and returns what is kept. */
  keep(entry: RecordedRequest, context: Context, response?: OutgoingResponse): KeptRequest {
    const known = this.#kept.get(entry.index);
    const sent = known?.sent ?? cutText(entry.text);
    const message = messageOf(entry, response);
    const bytes = sizeOf({ url: entry.url, headers: entry.headers, text: sent.text }) + (message?.body.length ?? 0);
    const kept = { request: fieldsOf(entry), sent, ...context, response: message, bytes };
    this.#kept.set(entry.index, kept);
    this.#bytes += bytes - (known?.bytes ?? 0);
    while (this.#kept.size > KEPT || (this.#bytes > this.#mostBytes && this.#kept.size > 0)) this.#forgetFirst();
    return kept;
  }

  /** Oldest first. */
  rows(): PageRequest[] {
    return Array.from(this.#kept.values(), rowOf);
  }

  #forgetFirst(): void {
    const [first] = this.#kept;
    if (first === undefined) return;
    this.#kept.delete(first[0]);
    this.#bytes -= first[1].bytes;
  }
}

/** A copy of an entry, which fills in later; not of its text, which may be long. */
function fieldsOf(entry: RecordedRequest): KeptRequest["request"] {
  const { index, at, endedAt, method, url, path, operation, attempt, headers, token } = entry;
  const { inFlight, requestId, status, code, applied, faulty, outcome } = entry;
  const arrived = { index, at, endedAt, method, url, path, operation, attempt, headers, token };
  return { ...arrived, inFlight, requestId, status, code, applied, faulty, outcome };
}

function messageOf(
  { status, outcome }: RecordedRequest,
  response: OutgoingResponse | undefined,
): KeptRequest["response"] {
  if (response === undefined || status === undefined || outcome === "aborted") return undefined;
  const { headers, body = new Uint8Array(), delivery } = response;
  const sent = body.subarray(0, delivery.cutAfterBytes ?? delivery.stallAfterBytes);
  if (sent.length <= KEPT_BYTES) return { headers, body: sent, cut: 0 };
  return { headers, body: sent.slice(0, KEPT_BYTES), cut: sent.length - KEPT_BYTES };
}

function cutText(text: string): Body {
  if (text.length * 3 <= KEPT_BYTES) return { text, cut: 0 };
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= KEPT_BYTES) return { text, cut: 0 };
  const kept = new Uint8Array(KEPT_BYTES);
  const { written } = new TextEncoder().encodeInto(text, kept); // whole characters
  return { text: new TextDecoder().decode(kept.subarray(0, written)), cut: bytes.length - written };
}

/** The row of a request. */
export function rowOf(kept: KeptRequest): PageRequest {
  const { request, sent, token, window, response } = kept;
  const { at, endedAt, method, url, status, code, outcome, faulty, operation, requestId: id } = request;
  const received: PageMessage | undefined = response && {
    headers: withoutSecrets(response.headers),
    // A character that is cut in two is left out.
    body: withoutPlaintexts(new TextDecoder().decode(response.body, { stream: true })),
    cut: response.cut,
  };
  const content = (status ?? 0) < 400 ? undefined : parse(response?.body);
  return {
    id,
    at,
    endedAt,
    method,
    url,
    operation,
    token: shownToken(token),
    status,
    code,
    outcome,
    faulty,
    fate: fateOf(request),
    why: whyOf(request, { content, scopes: token?.scopes, window }),
    sent: {
      headers: withoutSecrets(Object.entries(request.headers)),
      body: withoutPlaintexts(sent.text),
      cut: sent.cut,
    },
    response: received,
  };
}

/** A token as it is shown. */
export function shownToken(token: TokenRow | undefined): PageRequest["token"] {
  return token && { id: token.id, name: token.name };
}

function parse(body: Uint8Array | undefined): unknown {
  try {
    const parsed = parseJson(new TextDecoder().decode(body));
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined; // a fault may send anything
  }
}
