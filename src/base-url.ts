import { refuse, shown } from "./base/check.ts";

/** An absolute http(s) URL that paths can be appended to, without trailing slashes. What is refused is never shown. */
export function checkBaseUrl(value: unknown): string {
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== "string") refuse(`baseUrl must be a string or a URL, not ${shown(value)}`);
  if (/[\u0000-\u0020\u007f\\]/.test(text)) {
    refuse("baseUrl must not contain white space, control characters or backslashes");
  }
  const url = /^https?:\/\//i.test(text) ? parseUrl(text) : undefined;
  if (url === undefined) {
    refuse("baseUrl must be an absolute http: or https: URL, such as https://automation.example.com/api/v1");
  }
  // The parsed URL is judged: parsers accept more spellings than a pattern knows.
  if (url.username !== "" || url.password !== "") refuse("baseUrl must not contain a user name or password");
  if (/[?#]/.test(text)) refuse("baseUrl must not contain a query or a fragment");
  return url.href.replace(/\/+$/, "");
}

/** A token may travel in clear only within this machine, or where the caller allows it. */
export function checkTransport(baseUrl: URL, allowInsecureHttp: boolean): void {
  if (baseUrl.protocol === "https:" || allowInsecureHttp || isLoopback(baseUrl.hostname)) return;
  refuse(
    "baseUrl is plain http: to another machine, where others can read the token; use https:, or allowInsecureHttp",
  );
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Whether a host is this machine. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
