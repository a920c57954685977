/** How a connection failed, as far as it matters for sending again. */
export type Fault = "never_sent" | "lost" | "permanent";

/** The connection was never made, unless it is an error of reading or writing: networks also go away under a connection. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_FAIL",
  "EAI_NODATA",
  "EAI_NONAME",
  "ENETUNREACH",
  "ENETDOWN",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  // Bun's
  "ConnectionRefused",
  "FailedToOpenSocket",
  "DNSException",
]);

/** The connection was there and broke, so the request may have arrived. */
const LOST: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_RESPONSE",
  // Bun's
  "ConnectionClosed",
]);

/** A handshake that failed will fail again, and nothing was sent. Names of OpenSSL's verification results and Node's TLS errors. */
const CERTIFICATE =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA$|HOSTNAME_MISMATCH$|EPROTO$)/;

/** The same, and a proxy that refuses, in the words of Deno, which has no codes. */
const REFUSED_IN_WORDS = /invalid peer certificate|proxy authentication required/i;

/** A proxy that opens no tunnel has sent nothing on. The words of undici and Bun, with the proxy's status. */
const REFUSED_BY_PROXY = /Proxy response \((\d)|Proxy refused to open a tunnel: (\d)/;

/** undici's own error for arguments that it does not take, such as the dispatcher of another version. */
const INVALID_ARGUMENT = "UND_ERR_INVALID_ARG";

/** What fetch itself refuses to send, by the messages of its implementations. */
const REFUSED_BY_FETCH =
  /bad port|unknown scheme|scheme must be|invalid header|invalid method|not a valid HTTP header|invalid url|(?:parse|parsed) (?:as a )?url|includes credentials/i;

/** What platforms say of a failure of the network; a wrapper of `fetch` may have put it into a `cause`. */
const NETWORK_FAILURE =
  /^(?:fetch failed|failed to fetch|network ?error|terminated|load failed|network request failed|error sending request)/i;

/** Errors nest, and a failed dual-stack connect is an AggregateError. */
const MAX_DEPTH = 6;

/** What is known of a failed connection. */
export interface ConnectionFault {
  readonly fault: Fault;
  /** Whether it is certain that nothing reached the service. */
  readonly notSent: boolean;
  readonly platformCode: string | undefined;
}

/**
 * How the connection failed, by the platform's error and its causes. `isNetwork`: the error is known as a failure of the
 * network.
 */
export function classifyFault(error: unknown, isNetwork: boolean): ConnectionFault {
  const chain = chainOf(error);
  const codes = chain.map(codeOf).filter((code) => code !== undefined);
  const platformCode = codes[0];
  // What the parser does not understand has been answered, whatever words it uses ("Invalid header token").
  const wasAnswered = codes.some((code) => code.startsWith("HPE_")) || chain.some(isUnparsable);
  if (codes.some((code) => CERTIFICATE.test(code)) || (!wasAnswered && chain.some(isRefusedByFetch))) {
    return { fault: "permanent", notSent: true, platformCode };
  }
  const proxyStatus = chain.map(statusOfProxy).find((status) => status !== undefined);
  // A proxy that does not reach the service (502, 504) may do so later; one that refuses (403, 407) does not.
  if (proxyStatus !== undefined) {
    return { fault: proxyStatus >= 5 ? "never_sent" : "permanent", notSent: true, platformCode };
  }
  const wasLost = chain.some(
    (one) => failedWhileConnected(one) || (LOST.has(codeOf(one) ?? "") && !failedToConnect(one)),
  );
  if (!wasLost && (codes.some((code) => NEVER_SENT.has(code)) || chain.some(failedToConnect))) {
    return { fault: "never_sent", notSent: true, platformCode };
  }
  const isLost = isNetwork || wasAnswered || wasLost || chain.some(saysItWasLost);
  return { fault: isLost ? "lost" : "permanent", notSent: false, platformCode };
}

function chainOf(error: unknown): object[] {
  const chain: object[] = [];
  let current = error;
  while (typeof current === "object" && current !== null && chain.length < MAX_DEPTH) {
    // Of several connections that were tried, each says what became of it.
    const tried = current instanceof AggregateError ? current.errors.slice(0, MAX_DEPTH).filter(isObject) : [];
    chain.push(...(tried.length > 0 ? tried : [current]));
    current = "cause" in current ? current.cause : undefined;
  }
  return chain;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function codeOf(error: object): string | undefined {
  return "code" in error && typeof error.code === "string" && error.code !== "" ? error.code : undefined;
}

// ETIMEDOUT is also a connection that went silent; only while connecting is it certain that nothing was sent.
function failedToConnect(error: object): boolean {
  if ("syscall" in error && error.syscall === "connect") return true;
  return error instanceof Error && /client error \(Connect\)|tcp connect error|dns error/i.test(error.message);
}

// EHOSTUNREACH, say, is a failure to connect, or what a connection ends with whose route has gone.
function failedWhileConnected(error: object): boolean {
  return "syscall" in error && (error.syscall === "read" || error.syscall === "write");
}

// Node's parser does not always give a code.
function isUnparsable(error: object): boolean {
  return error instanceof Error && error.name === "HTTPParserError";
}

// Older WebKit and workerd have no code and words of their own. workerd says the same of a connection that was refused.
function saysItWasLost(error: object): boolean {
  if (!(error instanceof Error)) return false;
  // The time limit of a wrapper's own, an `AbortSignal.timeout()`.
  if (error.name === "TimeoutError") return true;
  if (/^network connection lost\b/i.test(error.message)) return true;
  if (!(error instanceof TypeError)) return false;
  return (
    NETWORK_FAILURE.test(error.message) || /connection was lost|could not connect to the server/i.test(error.message)
  );
}

// The first digit of the status with which a proxy refused a tunnel.
function statusOfProxy(error: object): number | undefined {
  const found = error instanceof Error ? REFUSED_BY_PROXY.exec(error.message) : null;
  return found === null ? undefined : Number(found[1] ?? found[2]);
}

function isRefusedByFetch(error: object): boolean {
  if (codeOf(error) === INVALID_ARGUMENT) return true;
  return error instanceof Error && (REFUSED_BY_FETCH.test(error.message) || REFUSED_IN_WORDS.test(error.message));
}
