import { ignoreErrors } from "../core/checks/ignore-errors.ts";
import { invalid } from "../core/checks/invalid-input.ts";
import { ownNeeded, parseService, type Service } from "../core/wire/service.ts";

/** Environment variables of the options without which there is no client. */
export const VARIABLES = { baseUrl: "PROJECT_AUTOMATION_BASE_URL", token: "PROJECT_AUTOMATION_TOKEN" } as const;
const NAMES = ["baseUrl", "token"] as const;

/** Names that other programs have for them, which are not read. */
const OTHER_VARIABLES = [
  "PROJECT_AUTOMATION_URL",
  "PROJECT_AUTOMATION_API_URL",
  "PROJECT_AUTOMATION_API_KEY",
  "PROJECT_AUTOMATION_API_TOKEN",
];

export interface Connection<Token> {
  readonly baseUrl?: Service | undefined;
  readonly token?: Token | string | undefined;
  /** The service of the environment, if its token is not for `baseUrl`. */
  readonly tokenIsFor?: Service | undefined;
}

/**
 * Lets the environment stand in for an address or a token that is left out. Its token goes only to its own service; where it
 * names none, to any. `read` reads a variable.
 *
 * @throws InvalidInput if the environment has an address that cannot be used
 */
export function withEnvironment<Token>(
  given: Pick<Connection<Token>, "baseUrl" | "token">,
  read: (name: string) => string | undefined = fromEnvironment,
): Connection<Token> {
  if (given.baseUrl !== undefined && given.token !== undefined) return given;
  const address = read(VARIABLES.baseUrl);
  const baseUrl = address ? parseService(address, VARIABLES.baseUrl) : undefined;
  const source = { baseUrl, token: read(VARIABLES.token) || undefined };
  const isForeign = ownNeeded(given, source).includes("token");
  return {
    baseUrl: given.baseUrl ?? source.baseUrl,
    token: given.token ?? (isForeign ? undefined : source.token),
    tokenIsFor: isForeign ? source.baseUrl : undefined,
  };
}

/** Refuses options that are nowhere, all at once, and names the variables that are looked at. */
export function refuseMissing({ tokenIsFor, ...found }: Connection<unknown>): never {
  if (tokenIsFor !== undefined) {
    invalid(
      `token is missing: ${VARIABLES.token} is for ${VARIABLES.baseUrl} (${tokenIsFor}), and baseUrl is another service (${found.baseUrl}): pass a token for it`,
    );
  }
  const names = NAMES.filter((name) => found[name] === undefined);
  const set = `, or set ${variablesOf(names)} in the environment`;
  const unread = OTHER_VARIABLES.filter((name) => fromEnvironment(name) !== undefined);
  const hint = unread.length > 0 ? ` (${unread.join(" and ")} ${unread.length > 1 ? "are" : "is"} not read)` : "";
  return invalid(
    `${areSaid(names, "missing")}: pass ${names.length > 1 ? "them" : "it"}${environment() === undefined ? "" : set}${hint}`,
  );
}

/**
 * Refuses an address or a token that is there and `undefined`: it was meant to come from somewhere else, so no other takes
 * its place, neither the environment's nor, for a derived client, that of the first one.
 */
export function refuseUndefined(options: object, isDerived: boolean): void {
  const names = NAMES.filter((name) => Object.hasOwn(options, name) && options[name as never] === undefined);
  if (names.length === 0) return;
  const [values, keys] = names.length > 1 ? ["values", "keys"] : ["a value", "key"];
  const used = isDerived ? "keep this client's own" : `use ${variablesOf(names)}`;
  const instead = isDerived || environment() !== undefined ? `, or leave the ${keys} out to ${used}` : "";
  invalid(`${isDerived ? "withOptions: " : ""}${areSaid(names, "undefined")}: pass ${values}${instead}`);
}

function areSaid(names: readonly string[], what: string): string {
  return `${names.join(" and ")} ${names.length > 1 ? "are" : "is"} ${what}`;
}

function variablesOf(names: readonly (typeof NAMES)[number][]): string {
  return names.map((name) => VARIABLES[name]).join(" and ");
}

export function fromEnvironment(name: string): string | undefined {
  // Deno asks for a permission, and throws when it is denied.
  return ignoreErrors(() => environment()?.[name]) || undefined;
}

function environment(): Readonly<Record<string, string | undefined>> | undefined {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env; // not every runtime has one
}
