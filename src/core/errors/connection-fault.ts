import { ignoreErrors } from "../checks/ignore-errors.ts";
import { isLoopback, type Service } from "../wire/service.ts";
import { type Explanation, explain } from "./explanation.ts";

// The words of a failed connection. An error tells what failed, and whether it will fail again. It is no evidence about
// whether the request was sent.

interface Verdict {
  /** Sending it again cannot help. */
  readonly permanent?: true;
  /** The words say that nothing was sent. Of a write they are used only where the platform shows the same. */
  readonly saysUnsent?: true;
  /** The kind, where the part that failed or the device decides beside the error. */
  readonly kind?: "lost_in_page" | "threw_refusal" | "unexplained";
  /** The message, with `{host}`, `{code}`, `{reason}` and `{why}` in the place of those texts. */
  readonly words: string;
}

export interface ConnectionFault {
  /** The message, with `{host}`, `{code}`, `{reason}` and `{why}` in the place of those texts. */
  readonly words: string;
  /** Sending it again cannot help. */
  readonly permanent: true | undefined;
  /** Texts of others, which may hold secrets, for `words`. `host`: the service, and the address that failed. */
  readonly said: Omit<Explanation, "chain"> & { readonly host: string };
}

const NEVER_SENT: Verdict = { saysUnsent: true, words: "no connection could be made to {host} ({code})" };
const NO_TUNNEL: Verdict = { saysUnsent: true, words: "a proxy opened no tunnel to {host} ({reason})" };
/** The platform shows that nothing of the request was processed, whatever its error is called. */
const UNSENT: Verdict = { words: "the request did not get through to {host}: {why}" };
const REFUSED: Verdict = { saysUnsent: true, permanent: true, words: "the request failed to reach {host} ({code})" };
const FORBIDDEN = { ...REFUSED, words: "this process may not connect to {host} without --allow-net ({code})" };
const SPEAKS_HTTP = {
  ...REFUSED,
  words: "the request failed to reach {host}: this port speaks http:, not https: ({code})",
};
const REFUSED_BY_PROXY: Verdict = { ...NO_TUNNEL, permanent: true };
const LOST: Verdict = { words: "the connection was lost to {host} ({code})" };
const LOST_IN_PAGE: Verdict = {
  kind: "lost_in_page",
  words: `${LOST.words}; in a page, the service may not allow its origin (CORS)`,
};
const UNREADABLE: Verdict = { words: "the response of {host} could not be read: {why}" };
const LOST_OFFLINE: Verdict = { words: `${LOST.words}; this device is offline` };
const UNEXPLAINED: Verdict = { kind: "unexplained", words: "the request to {host} failed: {why}" };
/** A `fetch` of the application may have failed at something else, when the service had responded. */
const OF_APPLICATION = "the fetch of the application failed: {why}";
/** The words of a wrapper that throws what it should return, as ky, axios and got do for a 404. */
const THREW_REFUSAL: Verdict = { ...UNEXPLAINED, kind: "threw_refusal" };
const MUST_RETURN = "the fetch of the application must return refusals: {why}";
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
    REFUSED,
    /^(?:UND_ERR_INVALID_ARG|ERR_INVALID_URL) |invalid header|not a valid HTTP header|bad port|unknown scheme|scheme must be/i,
  ],
  // A proxy that opens no tunnel has sent nothing on. It may reach the service later (502, 504), or refuses (403, 407).
  [NO_TUNNEL, /Proxy (?:response \(|refused to open a tunnel: )5/],
  [REFUSED_BY_PROXY, /Proxy (?:response \(|refused to open a tunnel: )\d|proxy authentication required/i],
  [
    LOST,
    /^(?:\S* (?:read|write)|ConnectionClosed) |^(?:ECONN(?:RESET|ABORTED)|EPIPE|ETIMEDOUT|UND_ERR_(?:SOCKET|(?:HEADERS|BODY)_TIMEOUT)) (?!connect )/,
  ],
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

/** The part that failed: the platform's `fetch`, the application's, making the request before, or reading the response after it. */
export type FaultSource = "platform" | "application" | "request" | "response";

export interface Fault {
  readonly cause: unknown;
  readonly source: FaultSource;
  /** The platform shows that nothing of it was processed. */
  readonly isUnsent?: boolean;
  /** Nothing depends on whether it was sent. */
  readonly isRead?: boolean;
  readonly isOffline?: boolean;
}

/** Finds the words for a failed connection, by the error, its causes, and the part that failed. */
export function classifyFault(fault: Fault, baseUrl: string): ConnectionFault {
  const { chain, ...reason } = explain(fault.cause);
  const service = new URL(baseUrl);
  const names = namesOf(service);
  const elsewhere = chain.find(({ host }) => host !== "" && !names.includes(host))?.host;
  const host =
    elsewhere === undefined ? service.host : `${service.host} at ${elsewhere}, its address or that of a proxy`;
  const [verdict] = RULES.find(([, line]) => chain.some((one) => line.test(one.line))) ?? [UNEXPLAINED];
  const { words, permanent } = verdictOf(verdict, fault, elsewhere !== undefined);
  return { words, permanent, said: { host, ...reason } };
}

function verdictOf(verdict: Verdict, { source, isUnsent, isRead, isOffline }: Fault, isElsewhere: boolean): Verdict {
  if (source === "request") return NOT_MADE;
  if (source === "response") return UNREADABLE;
  const isOfApplication = source === "application";
  if (verdict.saysUnsent) {
    if (isUnsent || isRead) return verdict;
    return { ...verdict, words: isOfApplication ? OF_APPLICATION : UNEXPLAINED.words };
  }
  if (isUnsent) return UNSENT;
  if (verdict.kind === "lost_in_page" && isOffline) return LOST_OFFLINE;
  if (isOfApplication && verdict.kind === "threw_refusal") return { ...verdict, words: MUST_RETURN };
  const isOther = isElsewhere || verdict.kind === "unexplained";
  return isOfApplication && isOther ? { ...verdict, words: OF_APPLICATION } : verdict;
}

function namesOf({ hostname, port, protocol }: URL): readonly string[] {
  const host = hostname.replace(/^\[|\]$/g, "");
  const at = port || (protocol === "https:" ? 443 : 80);
  const addresses = host === "localhost" ? [host, "127.0.0.1", "::1"] : [host];
  return [host, ...addresses.map((address) => `${address}:${at}`)];
}

type Names = Readonly<Record<string, string | undefined>>;

/** A sentence on a proxy of the environment that gets the requests to a service on this machine; empty without one. */
export function proxyHint(service: Service): string {
  // A browser has no process, and Deno asks for a permission.
  return ignoreErrors(() => hintOf(new URL(service), globalThis as unknown as Environment)) ?? "";
}

interface Environment {
  readonly process: { readonly env: Names; readonly versions: Names };
}

function hintOf({ protocol, hostname }: URL, { process: { env, versions } }: Environment): string {
  if (!isLoopback(hostname)) return "";
  const isNode = (versions["bun"] ?? versions["deno"]) === undefined;
  if (isNode && env["NODE_USE_ENV_PROXY"] !== "1") return "";
  const name = [protocol.replace(":", "_proxy"), ...(isNode ? [] : ["all_proxy"])]
    .flatMap((one) => [one.toUpperCase(), one])
    .find((one) => env[one]);
  const past = env["no_proxy"] || env["NO_PROXY"] || "";
  if (name === undefined || past.includes("*") || past.includes(hostname)) return "";
  return `; ${name} sends it to a proxy: name ${hostname} in NO_PROXY`;
}
