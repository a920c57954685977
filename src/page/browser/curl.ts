import type { PageExchange } from "../events.ts";

/** Header fields that curl sends by itself, or that say how this very connection was used. */
const OWN = /^(?:host|connection|content-length|transfer-encoding|accept-encoding|expect|authorization|sec-.*)$/;

/** Letters that a shell, a terminal or curl may take for more than themselves. */
const UNSAFE = /[\0-\x1f\x7f-\x9f]/;

/**
 * A request as a line for a POSIX shell, which can be pasted whatever the request holds: the shell reads everything but the
 * token as it is. `undefined` if the body was too long to be kept, or has control characters, on which a terminal acts.
 */
export function curlLine(
  { request, sent }: Pick<PageExchange, "request" | "sent">,
  baseUrl: string,
): string | undefined {
  const { method, url } = request;
  const { headers, body, cut } = sent;
  if (cut > 0 || UNSAFE.test(body)) return undefined;
  const words = ["curl", "--globoff", "--path-as-is"];
  if (method === "HEAD") words.push("--head");
  else if (method !== "GET" || body !== "") words.push("--request", quoted(method));
  words.push(quoted(new URL(baseUrl).origin + visible(url)));
  if ("authorization" in headers) words.push("--header", '"Authorization: Bearer $PROJECT_AUTOMATION_TOKEN"');
  for (const [name, value] of Object.entries(headers)) {
    if (!OWN.test(name) && !UNSAFE.test(value))
      words.push("--header", quoted(value === "" ? `${name};` : `${name}: ${value}`));
  }
  if (body !== "") words.push("--data-raw", quoted(body));
  return words.join(" ");
}

/** A word of a POSIX shell: within single quotes only the single quote itself is special. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** A request target without letters that are not visible. */
function visible(url: string): string {
  return url.replaceAll(/[^\x21-\x7e]/g, (letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
