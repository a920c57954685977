import { ignoreErrors } from "./checks/ignore-errors.ts";
import { invalid } from "./checks/invalid-input.ts";

/** Environment variables of the options without which there is no client. */
export const VARIABLES = { baseUrl: "PROJECT_AUTOMATION_BASE_URL", token: "PROJECT_AUTOMATION_TOKEN" } as const;

/** Names that other programs have for them, which are not read. */
const OTHER_VARIABLES = [
  "PROJECT_AUTOMATION_URL",
  "PROJECT_AUTOMATION_API_URL",
  "PROJECT_AUTOMATION_API_KEY",
  "PROJECT_AUTOMATION_API_TOKEN",
];

/** Refuses options that are nowhere, all at once, and names the variables that are looked at. */
export function refuseMissing(found: { readonly [Name in keyof typeof VARIABLES]: unknown }): never {
  const names = (["baseUrl", "token"] as const).filter((name) => found[name] === undefined);
  const [verb, them] = names.length > 1 ? ["are", "them"] : ["is", "it"];
  const set = `, or set ${names.map((name) => VARIABLES[name]).join(" and ")} in the environment`;
  const unread = OTHER_VARIABLES.filter((name) => fromEnvironment(name) !== undefined);
  const hint = unread.length > 0 ? ` (${unread.join(" and ")} ${unread.length > 1 ? "are" : "is"} not read)` : "";
  return invalid(
    `${names.join(" and ")} ${verb} missing: pass ${them}${environment() === undefined ? "" : set}${hint}`,
  );
}

/** The value of an environment variable, where there is a process that has it. */
export function fromEnvironment(name: string): string | undefined {
  // Deno asks for a permission, and throws when it is denied.
  return ignoreErrors(() => environment()?.[name]) || undefined;
}

function environment(): Readonly<Record<string, string | undefined>> | undefined {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env; // not every runtime has one
}
