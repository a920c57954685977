import { isRecord } from "../checks/values.ts";
import { parseJson } from "../wire/json.ts";

// A status is the word of the sender of the response. Proxies, gateways and maintenance pages answer in the place of a service, with
// any status, so its body tells whether the service did.

export interface ReceivedBody {
  readonly text: string;
  readonly isWhole: boolean;
}

/**
 * Returns whether a 2xx is the service's, by its body; `undefined` while that is not known. White space and a byte order
 * mark count for nothing.
 *
 * | the body | where one is due | where none is due |
 * |---|---|---|
 * | begins with `{` or `[` | the service's | the service's |
 * | is one JSON value, such as `null` | the service's | the service's |
 * | has not begun | not known | the service's |
 * | is empty | not the service's | the service's |
 * | anything else | not the service's | not the service's |
 */
export function isSuccessOfService({ text, isWhole }: ReceivedBody, isDue: boolean): boolean | undefined {
  if (beginsAsJson(text)) return true;
  const shown = text.trim();
  if (shown !== "") return isWhole && parseJson(shown) !== undefined;
  if (!isDue) return true;
  return isWhole ? false : undefined;
}

export function beginsAsJson(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

/** Returns whether a refusal is the service's, by its parsed body: it has an `error`. */
export function isRefusalOfService(body: unknown): boolean {
  return isRecord(body) && (body["error"] ?? undefined) !== undefined;
}
