/** The variables by which a program finds the emulator. */
import type { Environment } from "../../command/start-program.ts";
import type { RunningEmulator } from "./running-emulator.ts";

/** Their values need no quotes. */
export type Variables = Readonly<Record<"PROJECT_AUTOMATION_BASE_URL" | "PROJECT_AUTOMATION_TOKEN", string>>;

export function linesOf(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

export function variablesOf({ baseUrl, token }: RunningEmulator): Variables {
  return { PROJECT_AUTOMATION_BASE_URL: baseUrl, PROJECT_AUTOMATION_TOKEN: token };
}

/** The names of this machine. Deno does not know `[::1]`; the `fetch` of Node 22 and 24 does not know `::1`. */
const OWN_NAMES = ["127.0.0.1", "localhost", "::1", "[::1]"];

export function withoutProxy({ NO_PROXY: upper, no_proxy: lower }: Environment): Readonly<Record<string, string>> {
  // "*" is for every host where it stands alone.
  const added = (own: string | undefined): string => (own === "*" ? own : [own, ...OWN_NAMES].filter(Boolean).join());
  return { NO_PROXY: added(upper || lower), no_proxy: added(lower || upper) };
}
