/** Requests and responses as the doctor sees them: raw statuses, headers and bodies, redirects not followed. */

export interface WireRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** The TLS of a connection; absent for plain HTTP. */
export interface TlsFacts {
  readonly protocol: string;
  readonly issuer: string;
  readonly expiresAt: number;
}

export interface WireResponse {
  readonly kind: "response";
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly tls?: TlsFacts | undefined;
}

/** No whole response was received. */
export interface Failure {
  readonly kind: "failure";
  /** The platform's code, such as `ECONNREFUSED` or `DEPTH_ZERO_SELF_SIGNED_CERT`. */
  readonly code: string;
  readonly message: string;
  /** Sending the request again cannot help. */
  readonly permanent?: boolean | undefined;
  /** False if the request certainly never left. */
  readonly isSent: boolean;
}

/** Sends one request, unless `signal` ends it. Resolves with a failure in place of rejecting. */
export type Send = (request: WireRequest, signal?: AbortSignal) => Promise<WireResponse | Failure>;

/** Which token a request carries: the caller's, one that does not exist, none, or this one. */
type Credential = "own" | "unknown" | "none" | { readonly plaintext: string };

/** A request of the doctor's, without what is the same for all of them. */
export interface PlannedRequest {
  /** @default "GET" */
  readonly method?: WireRequest["method"] | undefined;
  /** Below the base URL, percent-encoded, with its query. */
  readonly path: string;
  /** The path as reports show it: without ids, names and cursors. @default `path` */
  readonly shown?: string | undefined;
  /** @default "own" */
  readonly credential?: Credential | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly json?: unknown;
  /** Replaces the path of the base URL. */
  readonly basePath?: string | undefined;
}

export interface Reply extends WireResponse {
  readonly request: PlannedRequest;
  /** The parsed body; `undefined` if it is not JSON. */
  readonly json: unknown;
  /** When the request was sent and the response was complete, by the local wall clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** True if it holds a token that the doctor knows. */
  readonly repeatsToken: boolean;
}

/** A question that was not put to the service, or that it did not answer. */
export interface NotAsked {
  readonly kind: "not_asked";
  readonly reason: string;
}

export type Answer = Reply | Failure | NotAsked;

/** `GET /projects/{project}/sessions`, for reports. */
export function labelOf({ method = "GET", path, shown = path }: PlannedRequest): string {
  return `${method} ${shown}`;
}

export function notAsked(reason: string): NotAsked {
  return { kind: "not_asked", reason };
}

const CERTIFICATE_PROBLEMS: readonly (readonly [code: RegExp, problem: string])[] = [
  [/^(?:DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED)/, "the certificate is self-signed"],
  [/^CERT_HAS_EXPIRED$/, "the certificate has expired"],
  [/^CERT_NOT_YET_VALID$/, "the certificate is not valid yet"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "the certificate is for another host"],
  [/^UNABLE_TO_/, "the certificate is signed by an authority that is not trusted"],
  [/^(?:CERT_|ERR_TLS_|ERR_SSL_|INVALID_CA|HOSTNAME_MISMATCH|EPROTO)/, "the TLS handshake failed"],
];

/** The first bytes of an answer in HTTP, read as TLS, in the words of OpenSSL. */
const SPEAKS_HTTP = /wrong.version.number|packet.length.too.long/i;

/** Why the connection is not trusted; `undefined` if the failure is of another kind. */
export function certificateProblem({ code, message }: Pick<Failure, "code" | "message">): string | undefined {
  if (SPEAKS_HTTP.test(`${code} ${message}`)) return "this port speaks http:, and the address says https:";
  return CERTIFICATE_PROBLEMS.find(([pattern]) => pattern.test(code))?.[1];
}
