/** A request of the log as the page shows it. */
import { isRecord } from "../core/checks/values.ts";
import { parseJson } from "../core/wire/json.ts";
import type { RecordedRequest } from "../emulator/request-log.ts";
import type { TokenRow, TokenStore } from "../emulator/token-tables.ts";
import type { PageExchange, PageMessage, PageRequest } from "./events.ts";
import { fateOf, whyOf } from "./fate.ts";
import { KEPT_BYTES, type Responses, type SentResponse } from "./responses.ts";
import { withoutPlaintexts, withoutSecrets } from "./without-tokens.ts";

type Logged = Omit<RecordedRequest, "body" | "query" | "text">;

/** The row of a request that is under way: its response has not left, whatever the service has decided. */
export function pendingRow(request: Logged, token?: TokenRow): PageRequest {
  const { index, at, method, url, operation, requestId: id } = request;
  const none = { endedAt: undefined, status: undefined, code: undefined, why: undefined, faulty: false };
  return { id, index, at, method, url, operation, token: tokenOf(token), ...none, outcome: "pending", fate: "pending" };
}

export function endedRow(request: Logged, token?: TokenRow, response?: SentResponse): PageRequest {
  const { endedAt, status, code, outcome, faulty } = request;
  const isToldByBody = outcome === "completed" && status !== undefined && status >= 400;
  const content = isToldByBody ? parse(response?.body) : undefined;
  const reason = { content, scopes: token?.scopes, window: response?.window };
  return {
    ...pendingRow(request, token),
    endedAt,
    status,
    code,
    outcome,
    faulty,
    fate: fateOf(request),
    why: isToldByBody && response === undefined ? undefined : whyOf(request, reason),
  };
}

export function rowOf(request: Logged, tokens: TokenStore, response: SentResponse | undefined): PageRequest {
  const token = tokenIn(tokens, request);
  return request.outcome === "pending" ? pendingRow(request, token) : endedRow(request, token, response);
}

/** The token that a request bears, if the emulator knows it. */
export function tokenIn(tokens: TokenStore, { token }: Pick<RecordedRequest, "token">): TokenRow | undefined {
  return token === undefined ? undefined : tokens.byKeyId.get(token);
}

export function tokenOf(token: TokenRow | undefined): PageRequest["token"] {
  return token && { id: token.id, name: token.name };
}

/** A request and its response, without secrets of other services; tokens of the emulator are still in it. */
export function exchangeOf(request: PageRequest, entry: RecordedRequest, responses: Responses): PageExchange {
  const { bytes, cut } = firstBytes(entry.text);
  const response = responses.get(entry);
  return {
    v: 1,
    request,
    sent: messageOf(Object.entries(entry.headers), bytes, cut),
    response: response && messageOf(response.headers, response.body, response.cut),
    missing: response === undefined ? responses.missing(entry) : undefined,
  };
}

function messageOf(headers: Iterable<readonly [string, string]>, body: Uint8Array, cut: number): PageMessage {
  // A character that is cut in two is left out.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body, { stream: true });
  return { headers: withoutSecrets(headers), body: withoutPlaintexts(text), cut };
}

function firstBytes(text: string): { readonly bytes: Uint8Array; readonly cut: number } {
  const all = new TextEncoder().encode(text);
  return { bytes: all.subarray(0, KEPT_BYTES), cut: Math.max(0, all.length - KEPT_BYTES) };
}

function parse(body: Uint8Array | undefined): unknown {
  try {
    const parsed = parseJson(new TextDecoder().decode(body));
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined; // a fault may send anything
  }
}
