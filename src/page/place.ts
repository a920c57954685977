import type { PageRequest } from "./events.ts";
import { kindOf } from "./tally.ts";

/** The part of the page's address behind `#`: the opened request, and the filter. */
export interface Place {
  /** Such as `req_12`; `""` if none is open. */
  readonly open: string;
  readonly failed: boolean;
  readonly text: string;
}

export type Filter = Omit<Place, "open">;

/** Reads `failed&text=issues` and the like. */
export function parseFilter(query: string): Filter {
  const fields = new URLSearchParams(query);
  return { failed: fields.has("failed"), text: fields.get("text") ?? "" };
}

/** Reads `#req_12`, `#req_12?failed&text=issues` and the like. */
export function parsePlace(hash: string): Place {
  const [open = "", ...query] = hash.replace(/^#/, "").split("?");
  return { open, ...parseFilter(query.join("?")) };
}

/** Returns `?failed&text=issues` and the like; `""` for all requests. */
export function queryOf({ failed, text }: Filter): string {
  const fields = new URLSearchParams({ ...(failed && { failed: "" }), ...(text !== "" && { text }) });
  return `?${fields}`.replace(/^\?failed=/, "?failed").replace(/^\?$/, "");
}

/** Each word of the text has to be somewhere in the row, behind its mask. */
export function filterOf({ failed, text }: Filter, mask = (row: string): string => row): (row: PageRequest) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (request) => {
    const kind = kindOf(request);
    if (failed && (kind === "accepted" || kind === undefined)) return false;
    if (words.length === 0) return true;
    const { id, method, url, status, code, operation, token, why, outcome, fate } = request;
    const fields = [id, method, url, status, code, operation, token?.name, token?.id, why, outcome];
    const row = mask([...fields, fate.replaceAll("_", " ")].join("\n")).toLowerCase();
    return words.every((word) => row.includes(word));
  };
}
