/**
 * How a connection failed, as far as it matters for sending again. Nothing reached the service if it was `never_sent`, or
 * `refused` by what will refuse it again; it may have been reached if the connection was `lost`, or the failure is
 * `unexplained`.
 */
export type Fault = "never_sent" | "refused" | "lost" | "unexplained";

/** What is known of a failed connection. */
export interface ConnectionFault {
  readonly fault: Fault;
  readonly platformCode: string | undefined;
  /** What stood between the client and the service, where it is known to be at fault. */
  readonly culprit: "fetch" | "proxy" | "page" | undefined;
  /** The host that the error names, where it is not that of the service: an address of its, or a proxy. */
  readonly elsewhere: string | undefined;
  /** The message of the deepest cause that has one. */
  readonly reason: string | undefined;
}

/** What an error says. Of those that are not known, each is an empty text. */
interface Evidence {
  readonly code: string;
  readonly syscall: string;
  /** Name and message. */
  readonly words: string;
  readonly message: string;
  /** The host that it is about: `host` of a name that was not found, `address:port` of a refused connection. */
  readonly host: string;
}

/** A sign of a fault, in an error that has all of what is given. */
interface Sign {
  readonly fault: Fault;
  readonly code?: RegExp;
  readonly syscall?: RegExp;
  readonly words?: RegExp;
  readonly culprit?: "proxy" | "page";
}

/** The first that an error or one of its causes shows holds. Node's and Bun's errors have codes, others only words. */
const SIGNS: readonly Sign[] = [
  // What the parser does not understand has been answered, whatever words it uses ("Invalid header token").
  { fault: "lost", code: /^HPE_/ },
  { fault: "lost", words: /^HTTPParserError:/ },
  // A handshake that failed will fail again. OpenSSL's verification results and Node's TLS errors; Deno's words.
  {
    fault: "refused",
    code: /^(?:CERT_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA$|HOSTNAME_MISMATCH$|EPROTO$)/,
  },
  { fault: "refused", words: /invalid peer certificate/i },
  // What `fetch` itself refuses to send: a URL, a header, the dispatcher of another version of undici.
  { fault: "refused", code: /^UND_ERR_INVALID_ARG$/ },
  {
    fault: "refused",
    words:
      /bad port|unknown scheme|scheme must be|invalid header|invalid method|not a valid HTTP header|invalid url|(?:parse|parsed) (?:as a )?url|includes credentials/i,
  },
  // A proxy that opens no tunnel has sent nothing on. It may reach the service later (502, 504), or refuses (403, 407).
  { fault: "never_sent", culprit: "proxy", words: /Proxy (?:response \(|refused to open a tunnel: )5/ },
  {
    fault: "refused",
    culprit: "proxy",
    words: /Proxy (?:response \(|refused to open a tunnel: )\d|proxy authentication required/i,
  },
  // The connection was there and broke, perhaps because its route has gone (EHOSTUNREACH).
  { fault: "lost", syscall: /^(?:read|write)$/ },
  {
    fault: "lost",
    syscall: /^(?!connect$)/,
    code: /^(?:ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ConnectionClosed|UND_ERR_(?:SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT|RESPONSE|RES_CONTENT_LENGTH_MISMATCH))$/,
  },
  // It was never made.
  { fault: "never_sent", syscall: /^connect$/ },
  {
    fault: "never_sent",
    code: /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EAI_FAIL|EAI_NODATA|EAI_NONAME|ENETUNREACH|ENETDOWN|EHOSTUNREACH|EHOSTDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|DNSException)$/,
  },
  { fault: "never_sent", words: /client error \(Connect\)|tcp connect error|dns error/i },
  // Browsers do not say why.
  { fault: "lost", culprit: "page", words: /^TypeError: (?:failed to fetch|load failed|networkerror when)/i },
  {
    fault: "lost",
    words:
      /^TypeError: *(?:fetch failed|terminated|(?:a )?network ?(?:error|request failed)|error sending request|could not connect|the .*connection (?:was lost|appears to be offline))/i,
  },
  // workerd's, also for a connection that was refused; and the time limit of a wrapper's own.
  { fault: "lost", words: /^\w*Error: network connection lost\b|^TimeoutError:/i },
];

/** Of a `fetch` that is not the platform's: whatever it says of other hosts, the service may have been reached. */
const NOT_BELIEVED: Readonly<Record<Fault, Fault>> = {
  never_sent: "lost",
  refused: "unexplained",
  lost: "lost",
  unexplained: "unexplained",
};

/** Errors nest, and a failed dual-stack connect is an AggregateError. */
const MAX_DEPTH = 6;

/** The request that failed: to which service, and whose `fetch` it was handed to, if it was. */
export interface Sending {
  readonly baseUrl: string;
  readonly sender: "platform" | "application" | undefined;
}

/**
 * How the connection failed, by the platform's error and its causes. That nothing was sent is believed of the platform's
 * own `fetch`, and of another one only where the error that says so names the host of the service: it may have failed at
 * something else, when the service had responded.
 */
export function classifyFault(error: unknown, { baseUrl, sender }: Sending): ConnectionFault {
  const chain = evidenceIn(error);
  const sign = SIGNS.find((one) => chain.some((evidence) => shows(evidence, one)));
  const said = sign?.fault ?? "unexplained";
  const names = namesOf(new URL(baseUrl));
  const namesUs = sign !== undefined && chain.every((one) => !shows(one, sign) || names.includes(one.host));
  const isBelieved = sender === "platform" || namesUs;
  const host = textsOf(chain, "host").at(-1) ?? "";
  return {
    ...describe(chain),
    fault: sender === undefined ? "refused" : isBelieved ? said : NOT_BELIEVED[said],
    culprit: isBelieved || sign?.culprit === "proxy" ? sign?.culprit : sender && "fetch",
    elsewhere: host === "" || names.includes(host) ? undefined : host,
  };
}

/** Whether a fault leaves no doubt that nothing reached the service. */
export function isNotSent(fault: Fault): boolean {
  return fault === "never_sent" || fault === "refused";
}

/** What an error and its causes say for a message. */
export function describeFailure(error: unknown): Pick<ConnectionFault, "platformCode" | "reason"> {
  return describe(evidenceIn(error));
}

function describe(chain: readonly Evidence[]): Pick<ConnectionFault, "platformCode" | "reason"> {
  return { platformCode: textsOf(chain, "code")[0], reason: textsOf(chain, "message").at(-1) };
}

function textsOf(chain: readonly Evidence[], field: keyof Evidence): string[] {
  return chain.map((evidence) => evidence[field]).filter((text) => text !== "");
}

function shows(evidence: Evidence, { code, syscall, words }: Sign): boolean {
  return (
    (code?.test(evidence.code) ?? true) &&
    (syscall?.test(evidence.syscall) ?? true) &&
    (words?.test(evidence.words) ?? true)
  );
}

function evidenceIn(error: unknown): Evidence[] {
  const chain: object[] = [];
  let current = error;
  while (typeof current === "object" && current !== null && chain.length < MAX_DEPTH) {
    // Of several connections that were tried, each says why it failed.
    const tried = current instanceof AggregateError ? current.errors.slice(0, MAX_DEPTH).filter(isObject) : [];
    chain.push(...(tried.length > 0 ? tried : [current]));
    current = "cause" in current ? current.cause : undefined;
  }
  return chain.map(readEvidence);
}

function readEvidence(error: object): Evidence {
  const { name, message, code, syscall, hostname, address, port } = error as Readonly<Record<string, unknown>>; // any object can be asked
  const text = asText(message);
  const endpoint = asText(address) === "" ? "" : `${asText(address)}:${String(port)}`;
  // Where an error was copied without its fields, as node-fetch does, Node's message still names the host.
  const named = /\b(?:connect|getaddrinfo) [A-Z_]+ (\S+)$|\(attempted address: (\S+),/.exec(text);
  return {
    code: asText(code),
    syscall: asText(syscall),
    words: error instanceof Error ? `${asText(name)}: ${text}` : "",
    message: text,
    host: asText(hostname) || endpoint || (named?.[1] ?? named?.[2] ?? ""),
  };
}

/** How errors name a service: its host, or the address and port that it is reached at. */
function namesOf({ hostname, port, protocol }: URL): readonly string[] {
  const host = hostname.replace(/^\[|\]$/g, "");
  const at = port === "" ? (protocol === "https:" ? 443 : 80) : port;
  const addresses = host === "localhost" ? [host, "127.0.0.1", "::1"] : [host];
  return [host, ...addresses.map((address) => `${address}:${at}`)];
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
