import { isLoopback } from "../../core/wire/service.ts";

/** The option of Node that does the same as `NODE_USE_ENV_PROXY=1`. */
const OPTION = /(?:^|\s)--use-env-proxy(?:\s|$)/;

/**
 * Returns the environment variable that names a proxy for an address, if Node ignores it; else `undefined`. No proxy is
 * expected for an address of this machine.
 */
export function ignoredProxy(
  { protocol, hostname }: URL,
  environment: Readonly<Record<string, string | undefined>>,
  options: readonly string[] = process.execArgv,
): string | undefined {
  const isUsed =
    environment["NODE_USE_ENV_PROXY"] === "1" || OPTION.test([environment["NODE_OPTIONS"], ...options].join(" "));
  if (isUsed || isLoopback(hostname)) return undefined;
  const name = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  return [name, name.toLowerCase()].find((one) => (environment[one] ?? "") !== "");
}
