import { type ErrorWords, type Explanation, explain } from "./explanation.ts";

/** The meaning of a failed connection for its request. */
interface Verdict {
  /** `true` if the request may have reached the service; absent where none was begun. */
  readonly isSent?: boolean;
  /** Sending it again cannot help. */
  readonly permanent?: true;
  /** The kind, where the part that failed or the device decides beside the error. */
  readonly kind?: "no_tunnel" | "not_taken" | "lost_in_page" | "threw_refusal" | "unexplained";
  /** The message, with `{host}`, `{code}`, `{reason}` and `{why}` in the place of those texts. */
  readonly words: string;
}

/** A failed connection. */
export interface ConnectionFault extends Verdict {
  /** Texts of others, which may hold secrets, for `words`. `host`: the service, and the address that failed. */
  readonly said: Omit<Explanation, "chain"> & { readonly host: string };
}

const NEVER_SENT: Verdict = { isSent: false, words: "no connection could be made to {host} ({code})" };
const NO_TUNNEL: Verdict = { ...NEVER_SENT, kind: "no_tunnel", words: "a proxy opened no tunnel to {host} ({reason})" };
/** The platform tells that nothing of the request was processed, whatever its error is called. */
const UNSENT: Verdict = { isSent: false, words: "the request did not get through to {host}: {why}" };
const REFUSED: Verdict = { isSent: false, permanent: true, words: "the request failed to reach {host} ({code})" };
/** A flag of Node and of Deno. */
const FORBIDDEN = { ...REFUSED, words: "this process may not connect to {host} without --allow-net ({code})" };
const SPEAKS_HTTP = {
  ...REFUSED,
  words: "the request failed to reach {host}: this port speaks http:, not https: ({code})",
};
const REFUSED_BY_PROXY: Verdict = { ...NO_TUNNEL, permanent: true };
/** A URL, a header or a dispatcher that `fetch` does not take: no host was looked for. */
const NOT_TAKEN: Verdict = { ...REFUSED, kind: "not_taken" };
const LOST: Verdict = { isSent: true, words: "the connection was lost to {host} ({code})" };
const LOST_IN_PAGE: Verdict = {
  ...LOST,
  kind: "lost_in_page",
  words: `${LOST.words}; in a page, the service may not allow its origin (CORS)`,
};
const UNREADABLE = { ...LOST, words: "the response of {host} could not be read: {why}" };
const LOST_OFFLINE = { ...LOST, words: `${LOST.words}; this device is offline` };
const UNEXPLAINED: Verdict = { isSent: true, kind: "unexplained", words: "the request to {host} failed: {why}" };
/** A `fetch` of the application may have failed at something else, when the service had responded. */
const OF_APPLICATION: Verdict = { isSent: true, words: "the fetch of the application failed: {why}" };
/** The words of a wrapper that throws what it should return, as ky, axios and got do for a 404. */
const THREW_REFUSAL: Verdict = { ...UNEXPLAINED, kind: "threw_refusal" };
const MUST_RETURN: Verdict = { isSent: true, words: "the fetch of the application must return refusals: {why}" };
/** `fetch` has ended, and gave nothing that is a response. */
const NO_RESPONSE: Verdict = { ...UNEXPLAINED, permanent: true };

/**
 * The first rule that the line of an error or of one of its causes matches decides: the errors of Node and Bun have codes,
 * those of others only words.
 */
const RULES: readonly (readonly [Verdict, line: RegExp])[] = [
  // Bytes that the parser does not understand are a response, whatever its words ("Invalid header token").
  [UNREADABLE, /^(?:HPE_|UND_ERR_HEADERS_OVERFLOW |UND_ERR_RES)|^\S* \S* HTTPParserError:/],
  [NO_RESPONSE, / TypeError: it resolved with /],
  [THREW_REFUSAL, / status code \d/],
  [FORBIDDEN, /^ERR_ACCESS_DENIED | NotCapable:/],
  // The first bytes of an answer in HTTP, read as TLS.
  [SPEAKS_HTTP, /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG) /],
  // A handshake that failed will fail again: OpenSSL's verification results and Node's TLS errors; Deno's words.
  [
    REFUSED,
    /^(?:CERT_|ERR_(?:TLS|SSL|OSSL)_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|(?:INVALID_CA|HOSTNAME_MISMATCH|EPROTO) )|invalid peer certificate/i,
  ],
  // `fetch` itself refuses to send it: a URL, a header, the dispatcher of another version of undici.
  [
    NOT_TAKEN,
    /^(?:UND_ERR_INVALID_ARG|ERR_INVALID_URL) |invalid header|not a valid HTTP header|bad port|unknown scheme|scheme must be/i,
  ],
  // A proxy that opens no tunnel has sent nothing on. It may reach the service later (502, 504), or refuses (403, 407).
  [NO_TUNNEL, /Proxy (?:response \(|refused to open a tunnel: )5/],
  [REFUSED_BY_PROXY, /Proxy (?:response \(|refused to open a tunnel: )\d|proxy authentication required/i],
  // The connection was there and broke, perhaps because its route has gone (EHOSTUNREACH).
  [
    LOST,
    /^(?:\S* (?:read|write)|ConnectionClosed) |^(?:ECONN(?:RESET|ABORTED)|EPIPE|ETIMEDOUT|UND_ERR_(?:SOCKET|(?:HEADERS|BODY)_TIMEOUT)) (?!connect )/,
  ],
  // The connection was never made.
  [
    NEVER_SENT,
    /^(?:\S* connect|E(?:CONNREFUSED|NOTFOUND|AI_\w+|(?:NET|HOST)(?:UNREACH|DOWN)|ADDRNOTAVAIL)|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|DNSException) |client error \(Connect\)/,
  ],
  // A mock, or a part of Node, has a sentence of its own.
  [UNEXPLAINED, /^ERR_/],
  // Browsers do not say why; nor does workerd, also of a connection that was refused. The time limit is a wrapper's own.
  [LOST_IN_PAGE, /TypeError: (?:failed to fetch|load failed|networkerror when)/i],
  [
    LOST,
    /TypeError: *(?:fetch failed|terminated|(?:a )?network ?(?:error|request failed)|error sending request|could not connect)|connection appears to be offline|network connection (?:was )?lost\b|TimeoutError:/i,
  ],
];

/** A failure before `fetch` was called. */
const NOT_MADE = { ...REFUSED, words: "the request could not be made ({reason})" };
/** The error says that nothing was sent, and the platform's `fetch` may have sent it before. */
const OF_LAST_TRY = { isSent: true, words: "the last try to connect to {host} failed ({code})" };
/** A dispatcher, or a function around the platform's `fetch`, went on when the request had left. */
const SENT_BEFORE = { isSent: true, words: "the request was sent, and then its fetch failed: {why}" };

/** The part that failed: the platform's `fetch`, the application's, making the request before, or reading the response after it. */
export type FaultSource = "platform" | "application" | "request" | "response";

/** The platform's news of a request while it was under way. */
export interface RequestEvidence {
  /** Headers of it have left. */
  readonly left: boolean;
  /** It failed with the very error that `fetch` rejected with, and is not under way any more. */
  readonly failed: boolean;
  /** Its error ended the connecting, or a stream that the other side has not processed. */
  readonly unsent: boolean;
}

/** A thrown value, and the part that threw it. */
export interface Fault {
  readonly cause: unknown;
  readonly source: FaultSource;
  /** Absent of reads, and where the platform does not tell. */
  readonly request?: RequestEvidence | undefined;
  /** Nothing depends on whether it was sent. */
  readonly isRead?: boolean;
  /** The platform's own `fetch` sent it at most once. It matters where `request` is absent. */
  readonly isSentOnce?: boolean;
  /** The device has no network. */
  readonly isOffline?: boolean;
}

/** The host that the errors name which decided the verdict. */
export type Named = "service" | "another" | "none";

/** Judges a failed connection by the error, its causes, and the platform's news of the request. */
export function classifyFault(fault: Fault, baseUrl: string): ConnectionFault {
  const { cause } = fault;
  const { chain, ...reason } = explain(cause);
  const service = new URL(baseUrl);
  const names = namesOf(service);
  const elsewhere = chain.find(({ host }) => host !== "" && !names.includes(host))?.host;
  const host =
    elsewhere === undefined ? service.host : `${service.host} at ${elsewhere}, its address or that of a proxy`;
  const [verdict, sign] = RULES.find(([, line]) => chain.some((one) => line.test(one.line))) ?? [UNEXPLAINED];
  const named = namedBy(sign === undefined ? chain : chain.filter(({ line }) => sign.test(line)), names);
  return { ...verdictOf(verdict, { ...fault, named }), said: { host, ...reason } };
}

/** The verdict of the rules, as far as it is believed. */
function verdictOf(verdict: Verdict, evidence: FaultEvidence): Verdict {
  const { source, request, named, isRead, isOffline } = evidence;
  if (source === "request") return NOT_MADE;
  if (source === "response") return UNREADABLE;
  if (verdict.isSent) {
    if (request?.unsent) return UNSENT;
    if (verdict.kind === "lost_in_page" && isOffline) return LOST_OFFLINE;
    if (source === "platform") return verdict;
    if (verdict.kind === "threw_refusal") return { ...verdict, ...MUST_RETURN };
    return verdict.kind === "unexplained" || named === "another" ? { ...verdict, ...OF_APPLICATION } : verdict;
  }
  if (isNeverSent(evidence, verdict.kind === "not_taken")) return verdict;
  if (request?.left) return { ...verdict, ...SENT_BEFORE };
  // The words of a proxy are those of no other host.
  if (isRead && (source === "platform" || verdict.kind === "no_tunnel")) return verdict;
  return { ...verdict, ...(source === "application" ? OF_APPLICATION : OF_LAST_TRY) };
}

/** The evidence beside an error that says a request was never sent. */
export interface FaultEvidence extends Omit<Fault, "cause"> {
  readonly named: Named;
}

/**
 * `true` if an error is believed that says a request was never sent.
 *
 * | headers of it left | it failed with that error | the error names | believed |
 * |---|---|---|---|
 * | yes | | | no |
 * | no | yes | | yes |
 * | no | no | the service | yes |
 * | not known | not known | the service | yes, of a read, and if it was sent at most once |
 * | no, or not known | no, or not known | another host, or none | no |
 *
 * A request that the platform's own `fetch` does not take was sent to no host, so none can be named: believed where no
 * headers left.
 */
export function isNeverSent({ source, request, isRead, isSentOnce, named }: FaultEvidence, notTaken = false): boolean {
  if (request?.left) return false;
  if (request?.failed) return true;
  if (named === "service") return request !== undefined || isRead === true || isSentOnce === true;
  return notTaken && source === "platform" && request !== undefined;
}

function namedBy(errors: readonly ErrorWords[], names: readonly string[]): Named {
  if (errors.some(({ host }) => host !== "" && !names.includes(host))) return "another";
  return errors.length > 0 && errors.every(({ host }) => host !== "") ? "service" : "none";
}

/** The names of a service in errors: its host, or the address and port that it is reached at. */
function namesOf({ hostname, port, protocol }: URL): readonly string[] {
  const host = hostname.replace(/^\[|\]$/g, "");
  const at = port || (protocol === "https:" ? 443 : 80);
  const addresses = host === "localhost" ? [host, "127.0.0.1", "::1"] : [host];
  return [host, ...addresses.map((address) => `${address}:${at}`)];
}
