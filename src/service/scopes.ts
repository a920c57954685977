/**
 * The scopes of the table of the API documentation (section 5), frozen: one `<resource>:<action>` for each cell that grants
 * something. A run-time string outside this list is not an error anywhere in the client; the service decides.
 */
export const SCOPES = /* @__PURE__ */ Object.freeze([
  "projects:read", // lists and reads projects
  "projects:write", // creates and updates projects
  "projects:admin", // deletes projects
  "issues:read", // lists and reads issues
  "issues:write", // creates and updates issues
  "issues:admin", // deletes issues
  "enclaves:read", // lists and reads enclaves
  "enclaves:write", // creates and updates enclaves
  "enclaves:admin", // deletes enclaves
  "sessions:read", // lists sessions, reads their state
  "library:read", // reads documents
  "library:write", // adds documents
  "configs:read", // reads the configuration of a project
] as const);

/** One of the 13 scopes that the API documentation documents; `"sessions:write"` is not among them and does not compile. */
export type Scope = (typeof SCOPES)[number];

/**
 * Tells if a value is one of the 13 documented scopes, and narrows a string to `Scope`. Never throws.
 *
 * @example
 * const wanted = ["issues:write", "issues:fly"].filter(isScope); // Scope[]: ["issues:write"]
 */
export function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value);
}

const RANKS: readonly string[] = ["read", "write", "admin"];
const FORM = /^([^\s:]+):(read|write|admin)$/;

function parseScope(scope: unknown): { resource: string; rank: number } | undefined {
  if (typeof scope !== "string") return undefined;
  const [, resource, action] = FORM.exec(scope) ?? [];
  return resource === undefined ? undefined : { resource, rank: RANKS.indexOf(action ?? "") };
}

/**
 * Tells if a token with the scope `held` may do everything of `wanted`: `admin` includes `write`, `write` includes `read`, on the same
 * resource only (API documentation, section 5). A malformed scope implies nothing and is implied by nothing. Never throws.
 *
 * @example
 * impliesScope("issues:admin", "issues:read"); // true
 * impliesScope("issues:read", "issues:write"); // false
 */
export function impliesScope(held: string, wanted: string): boolean {
  const have = parseScope(held);
  const want = parseScope(wanted);
  return have !== undefined && want !== undefined && have.resource === want.resource && have.rank >= want.rank;
}

/**
 * The scopes of `wanted` that no scope of `held` implies, in the order given, each once. No string makes it
 * throw; a malformed wanted scope is always missing.
 *
 * @example
 * missingScopes(["projects:admin"], ["projects:read", "issues:write"]); // ["issues:write"]
 */
export function missingScopes<Wanted extends string>(held: Iterable<string>, wanted: Iterable<Wanted>): Wanted[] {
  const holds = [...held];
  return [...new Set(wanted)].filter((want) => !holds.some((have) => impliesScope(have, want)));
}
