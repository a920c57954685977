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
