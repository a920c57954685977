import { ignoreErrors } from "../base/check.ts";

/** What a failed connection says of its request. */
interface Verdict {
  /** It may have reached the service. */
  readonly isSent: boolean;
  /** Sending it again cannot help. */
  readonly isPermanent: boolean;
}

/** What is known of a failed connection. */
export interface ConnectionFault extends Verdict {
  readonly platformCode: string | undefined;
  /**
   * What is at fault, where it is known: the request, which could not be made; the service's response; or what stood
   * between the client and the service.
   */
  readonly culprit: "request" | "response" | "fetch" | "proxy" | "page" | undefined;
  /** The host that the error names, where it is not that of the service: an address of its, or a proxy. */
  readonly elsewhere: string | undefined;
  /** The message of the deepest cause that has one. */
  readonly reason: string | undefined;
}

const NEVER_SENT: Verdict = { isSent: false, isPermanent: false };
const REFUSED: Verdict = { isSent: false, isPermanent: true };
const LOST: Verdict = { isSent: true, isPermanent: false };
const UNEXPLAINED: Verdict = { isSent: true, isPermanent: true };

/**
 * The first rule that an error or one of its causes fits, holds. Each is read as one line, `<syscall> <code> <name>:
 * <message>`: the errors of Node and Bun have codes, those of others only words.
 */
const RULES: readonly (readonly [Verdict, line: RegExp, culprit?: "proxy" | "page"])[] = [
  // What the parser does not understand has been answered, whatever words it uses ("Invalid header token").
  [LOST, /^\S* (?:HPE_|\S* HTTPParserError:)/],
  // A handshake that failed will fail again: OpenSSL's verification results and Node's TLS errors; Deno's words.
  [REFUSED, /^\S* (?:CERT_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/],
  [REFUSED, /^\S* (?:INVALID_CA|HOSTNAME_MISMATCH|EPROTO) |invalid peer certificate/i],
  // What `fetch` itself refuses to send: a URL, a header, the dispatcher of another version of undici.
  [REFUSED, /^\S* UND_ERR_INVALID_ARG |invalid (?:header|method|url)|not a valid HTTP header/i],
  [REFUSED, /bad port|unknown scheme|scheme must be|(?:parse|parsed) (?:as a )?url|includes credentials/i],
  // A proxy that opens no tunnel has sent nothing on. It may reach the service later (502, 504), or refuses (403, 407).
  [NEVER_SENT, /Proxy (?:response \(|refused to open a tunnel: )5/, "proxy"],
  [REFUSED, /Proxy (?:response \(|refused to open a tunnel: )\d|proxy authentication required/i, "proxy"],
  // The connection was there and broke, perhaps because its route has gone (EHOSTUNREACH).
  [LOST, /^(?:read|write) /],
  [LOST, /^(?!connect )\S* (?:ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ConnectionClosed) /],
  [LOST, /^\S* UND_ERR_(?:SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT|RESPONSE|RES_CONTENT_LENGTH_MISMATCH) /],
  // It was never made.
  [NEVER_SENT, /^connect |client error \(Connect\)|tcp connect error|dns error/i],
  [NEVER_SENT, /^\S* (?:E(?:CONNREFUSED|NOTFOUND|AI_\w+|NETUNREACH|NETDOWN|HOSTUNREACH|HOSTDOWN|ADDRNOTAVAIL)) /],
  [NEVER_SENT, /^\S* (?:UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|DNSException) /],
  // Browsers do not say why.
  [LOST, /^\S* \S* TypeError: (?:failed to fetch|load failed|networkerror when)/i, "page"],
  [LOST, /^\S* \S* TypeError: *(?:fetch failed|terminated|(?:a )?network ?(?:error|request failed))/i],
  [LOST, /^\S* \S* TypeError: (?:error sending request|could not connect)/i],
  [LOST, /^\S* \S* TypeError: the .*connection (?:was lost|appears to be offline)/i],
  // workerd's, also for a connection that was refused; and the time limit of a wrapper's own.
  [LOST, /^\S* \S* (?:\w*Error: network connection lost\b|TimeoutError:)/i],
];

/** An error: what rules read of it, and what messages show. Of what it does not say, each is an empty text. */
interface Evidence {
  readonly line: string;
  readonly code: string;
  readonly message: string;
  /** The host that it is about: `host` of a name that was not found, `address:port` of a refused connection. */
  readonly host: string;
}

/** Errors nest, and a failed dual-stack connect is an AggregateError. */
const MAX_DEPTH = 6;

/** The request that failed: to which service, and whose `fetch` it was handed to, if it was; or its response. */
export interface Sending {
  readonly baseUrl: string;
  readonly sender: "platform" | "application" | "response" | undefined;
}

/**
 * How the connection failed, by the platform's error and its causes. That nothing was sent is believed of the platform's
 * own `fetch`, and of another one only where the error that says so names the host of the service: it may have failed at
 * something else, when the service had responded.
 */
export function classifyFault(error: unknown, { baseUrl, sender }: Sending): ConnectionFault {
  const chain = ignoreErrors(() => evidenceIn(error)) ?? []; // an error of the caller's own may throw when it is read
  const texts = (of: keyof Evidence): string[] => chain.map((one) => one[of]).filter((text) => text !== "");
  const names = namesOf(new URL(baseUrl));
  const host = texts("host").at(-1);
  const fault = {
    platformCode: texts("code")[0],
    elsewhere: host === undefined || names.includes(host) ? undefined : host,
    reason: texts("message").at(-1),
  };
  if (sender === undefined) return { ...fault, ...REFUSED, culprit: "request" };
  if (sender === "response") return { ...fault, ...LOST, culprit: "response" };
  const rule = RULES.find(([, sign]) => chain.some(({ line }) => sign.test(line)));
  const [said, sign, culprit] = rule ?? [UNEXPLAINED];
  const namesUs = sign !== undefined && chain.every((one) => !sign.test(one.line) || names.includes(one.host));
  if (sender === "platform" || namesUs) return { ...fault, ...said, culprit };
  return { ...fault, ...said, isSent: true, culprit: culprit === "proxy" ? culprit : "fetch" };
}

function evidenceIn(error: unknown): Evidence[] {
  const chain: object[] = [];
  let current = typeof error === "string" ? { message: error } : error;
  while (isObject(current) && chain.length < MAX_DEPTH) {
    // Of several connections that were tried, each says why it failed.
    const tried = current instanceof AggregateError ? current.errors.slice(0, MAX_DEPTH).filter(isObject) : [];
    chain.push(...(tried.length > 0 ? tried : [current]));
    current = "cause" in current ? current.cause : undefined;
  }
  return chain.map(readEvidence);
}

function readEvidence(error: object): Evidence {
  const fields = error as Readonly<Record<string, unknown>>; // any object can be asked
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === "string" ? value : "";
  };
  const message = text("message");
  const endpoint = text("address") && `${text("address")}:${String(fields["port"])}`;
  // Where an error was copied without its fields, as node-fetch does, Node's message still names the host.
  const named = /\b(?:connect|getaddrinfo) [A-Z_]+ (\S+)$|\(attempted address: (\S+),/.exec(message);
  return {
    line: `${text("syscall")} ${text("code")} ${text("name")}: ${message}`,
    code: text("code"),
    message,
    host: text("hostname") || endpoint || (named?.[1] ?? named?.[2] ?? ""),
  };
}

/** How errors name a service: its host, or the address and port that it is reached at. */
function namesOf({ hostname, port, protocol }: URL): readonly string[] {
  const host = hostname.replace(/^\[|\]$/g, "");
  const at = port || (protocol === "https:" ? 443 : 80);
  const addresses = host === "localhost" ? [host, "127.0.0.1", "::1"] : [host];
  return [host, ...addresses.map((address) => `${address}:${at}`)];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
