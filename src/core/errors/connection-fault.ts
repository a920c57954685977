import { ignoreErrors } from "../checks/ignore-errors.ts";
import { isLoopback, type Service } from "../wire/service.ts";
import { type ErrorWords, explain } from "./explanation.ts";

// The words of a failed connection. They say what failed, and never whether a write was sent: its `outcome` says that.

export interface Fault {
  readonly cause: unknown;
  /** The part that failed: making the request, sending it, or reading the response. */
  readonly stage: "making" | "sending" | "reading";
  readonly isOffline?: boolean;
}

/** The message is `<what>: <why><advice>`. */
export interface ConnectionFault extends Verdict {
  readonly what: string;
  /** The words of others, which may hold secrets, as may the code. */
  readonly why: string;
  readonly platformCode: string | undefined;
}

interface Verdict {
  /** Sending it again cannot help. */
  readonly permanent?: true;
  readonly advice?: string;
}

const WHAT: Readonly<Record<Fault["stage"], string>> = {
  making: "the request could not be made",
  sending: "the request to {host} failed",
  reading: "the response of {host} could not be read",
};

const PERMANENT: Verdict = { permanent: true };
/** Browsers do not say why. */
const IN_PAGE: Verdict = { advice: "; in a page, the service may not allow its origin (CORS)" };

/** The first rule that the line of an error or of one of its causes matches decides. Any other failure may pass. */
const RULES: readonly (readonly [Verdict, line: RegExp])[] = [
  // Bytes that the parser does not understand are a response, whatever its words ("Invalid header token").
  [{}, /^HPE_| HTTPParserError:/],
  // `fetch` has ended, and gave nothing that is a response.
  [PERMANENT, / TypeError: fetch resolved with /],
  // A wrapper throws what it should return, as ky, axios and got do for a 404.
  [{ advice: "; fetch must return refusals, not throw them" }, / status code \d/],
  // The first bytes of an answer in HTTP, read as TLS.
  [
    { ...PERMANENT, advice: "; this port speaks http:, not https:" },
    /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG) /,
  ],
  [{ ...PERMANENT, advice: "; this process needs --allow-net" }, /^ERR_ACCESS_DENIED | NotCapable:/],
  // A handshake that failed will fail again: OpenSSL's verification results and Node's TLS errors; Deno's words.
  [
    PERMANENT,
    /^(?:CERT_|ERR_(?:TLS|SSL|OSSL)_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|(?:INVALID_CA|HOSTNAME_MISMATCH|EPROTO) )|invalid peer certificate/i,
  ],
  // `fetch` itself refuses to send it: a URL, a header, the dispatcher of another version of undici.
  [
    PERMANENT,
    /^(?:UND_ERR_INVALID_ARG|ERR_INVALID_URL) |invalid header|not a valid HTTP header|bad port|unknown scheme|scheme must be/i,
  ],
  // A proxy refuses the tunnel (403, 407). One that cannot reach the service (502, 504) may reach it later.
  [PERMANENT, /Proxy (?:response \(|refused to open a tunnel: )[1-4]|proxy authentication required/i],
  [IN_PAGE, /TypeError: (?:failed to fetch|load failed|networkerror when)/i],
];

/** Finds the words for a failed connection. */
export function classifyFault(fault: Fault, baseUrl: string): ConnectionFault {
  const { chain, ...reason } = explain(fault.cause);
  const what = WHAT[fault.stage].replace("{host}", new URL(baseUrl).host);
  return { what, ...reason, ...verdictOf(fault, chain) };
}

function verdictOf({ stage, isOffline }: Fault, chain: readonly ErrorWords[]): Verdict {
  if (stage === "making") return PERMANENT;
  if (stage === "reading") return {};
  const [verdict] = RULES.find(([, line]) => chain.some((one) => line.test(one.line))) ?? [{}];
  return isOffline && verdict === IN_PAGE ? { advice: "; this device is offline" } : verdict;
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
