import { invalid } from "../checks/invalid-input.ts";
import { describeValue, parseUrl, textOfUrl } from "../checks/values.ts";
import { forbiddenIn } from "./url.ts";

declare const SERVICE: unique symbol;

/**
 * A service: origin and base path, without trailing slashes. URLs of one service are one text, so `===` compares services:
 * `URL` writes hosts, default ports, IP addresses, dot segments and percent-encoding. Tokens, headers, certificates and
 * records belong to a service.
 */
export type Service = string & { readonly [SERVICE]: true };

/**
 * The service at an absolute http(s) URL that paths can be appended to. A refused URL is never shown; `what` names it.
 *
 * @throws InvalidInput
 */
export function parseService(value: unknown, what = "baseUrl"): Service {
  const text = textOfUrl(value);
  if (typeof text !== "string") invalid(`${what} must be a string or a URL, not ${describeValue(value)}`);
  const problem = forbiddenIn(text);
  if (problem !== undefined) invalid(`${what} ${problem}`);
  const url = /^https?:\/\//i.test(text) ? parseUrl(text) : undefined;
  if (url === undefined) {
    const quotes = /^["']/.test(text) ? "; leave out the quotes around it" : "";
    invalid(`${what} must be an absolute http: or https: URL, such as https://automation.example.com/api/v1${quotes}`);
  }
  // The parsed URL is judged: parsers accept more spellings than a pattern knows.
  if (url.username !== "" || url.password !== "") invalid(`${what} must not contain a user name or password`);
  // Looked for at its beginning alone: a long run of slashes elsewhere would take long.
  return url.href.replace(/(?<!\/)\/+$/, "") as Service; // this is the one place that writes it
}

/** `false` if others could read the token: it may travel in clear only within this machine, or where the user allows it. */
export function isSafeTransport(service: Service, allowInsecureHttp: boolean | undefined): boolean {
  const { protocol, hostname } = new URL(service);
  return protocol === "https:" || allowInsecureHttp === true || isLoopback(hostname);
}

export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.*\.)?localhost|\[::1\]|127(?:\.\d+){3})$/.test(hostname);
}

/** Options that belong to a service: secrets, certificates, and a permission. */
const BELONGINGS = ["token", "headers", "fetchOptions", "allowInsecureHttp"] as const;
type Belonging = (typeof BELONGINGS)[number];

interface Belongings extends Readonly<Partial<Record<Belonging, unknown>>> {
  readonly baseUrl?: Service | undefined;
}

/**
 * The rule of options that come from elsewhere, from the environment or from another client: they are for their own service.
 * Returns the names of those that `given` needs of its own. A source that names no service is for any.
 */
export function ownNeeded(given: Belongings, source: Belongings): readonly Belonging[] {
  const isAnother = given.baseUrl !== undefined && source.baseUrl !== undefined && given.baseUrl !== source.baseUrl;
  return BELONGINGS.filter((name) => isAnother && given[name] === undefined && source[name] !== undefined);
}
