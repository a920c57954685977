import { invalid } from "../checks/invalid-input.ts";
import { parseUrl } from "../checks/parse-url.ts";
import { describeValue } from "../checks/values.ts";
import { forbiddenIn } from "./encoding.ts";

/** An absolute http(s) URL that paths can be appended to, without trailing slashes. A refused one is never shown. */
export function checkBaseUrl(value: unknown): string {
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== "string") invalid(`baseUrl must be a string or a URL, not ${describeValue(value)}`);
  const flaw = forbiddenIn(text);
  if (flaw !== undefined) invalid(`baseUrl ${flaw}`);
  const url = /^https?:\/\//i.test(text) ? parseUrl(text) : undefined;
  if (url === undefined) {
    const quotes = /^["']/.test(text) ? "; leave out the quotes around it" : "";
    invalid(`baseUrl must be an absolute http: or https: URL, such as https://automation.example.com/api/v1${quotes}`);
  }
  // The parsed URL is judged: parsers accept more spellings than a pattern knows.
  if (url.username !== "" || url.password !== "") invalid("baseUrl must not contain a user name or password");
  // Looked for at its beginning alone: a long run of slashes elsewhere would take long.
  return url.href.replace(/(?<!\/)\/+$/, "");
}

/** A token may travel in clear only within this machine, or where the caller allows it. */
export function checkTransport(baseUrl: URL, allowInsecureHttp: boolean | undefined): void {
  if (baseUrl.protocol === "https:" || allowInsecureHttp || isLoopback(baseUrl.hostname)) return;
  invalid(
    "baseUrl is plain http: to another machine, where others can read the token; use https:, or allowInsecureHttp",
  );
}

/** Returns whether a host is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.*\.)?localhost|\[::1\]|127(?:\.\d+){3})$/.test(hostname);
}
