import type { PageRequest } from "./events.ts";
import { kindOf } from "./tally.ts";

/** The part of the page's address behind `#`: the opened request, and the filter. */
export interface Place {
  /** Such as `req_12`; `""` if none is open. */
  readonly open: string;
  readonly failed: boolean;
  readonly text: string;
}

/** Reads `#req_12`, `#req_12?failed&text=issues` and the like. */
export function parsePlace(hash: string): Place {
  const [open = "", ...query] = hash.replace(/^#/, "").split("?");
  const fields = new URLSearchParams(query.join("?"));
  return { open, failed: fields.has("failed"), text: fields.get("text") ?? "" };
}

export function hashOf({ open, failed, text }: Place): string {
  const fields = new URLSearchParams({ ...(failed && { failed: "" }), ...(text !== "" && { text }) });
  const query = fields.toString().replace("failed=", "failed");
  return query === "" ? `#${open}` : `#${open}?${query}`;
}

/** Returns the filter of a place. Each word of its text has to be somewhere in the row. */
export function filterOf({ failed, text }: Place): (request: PageRequest) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (request) => {
    const kind = kindOf(request);
    if (failed && (kind === "accepted" || kind === undefined)) return false;
    if (words.length === 0) return true;
    const { id, method, url, status, code, operation, token, why, outcome, fate } = request;
    const fields = [id, method, url, status, code, operation, token?.name, token?.id, why, outcome];
    const row = [...fields, fate.replaceAll("_", " ")].join("\n").toLowerCase();
    return words.every((word) => row.includes(word));
  };
}
