import { ignoreErrors } from "../checks/ignore-errors.ts";
import { isLoopback, type Service } from "../wire/base-url.ts";

interface Process {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly versions?: Readonly<Record<string, string | undefined>>;
}

/** A sentence on a proxy of the environment that gets the requests to a service on this machine; empty without one. */
export function proxyHint(service: Service): string {
  return ignoreErrors(() => hintOf(new URL(service), globalThis as { readonly process?: Process })) ?? ""; // Deno asks for a permission
}

function hintOf({ protocol, hostname }: URL, { process }: { readonly process?: Process }): string {
  const { env = {}, versions = {} } = isLoopback(hostname) ? (process ?? {}) : {};
  const isUsed = versions["bun"] ?? versions["deno"] ?? env["NODE_USE_ENV_PROXY"] === "1";
  const own = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const name = [own, own.toLowerCase(), "ALL_PROXY", "all_proxy"].find((one) => env[one]);
  const past = env["no_proxy"] || env["NO_PROXY"] || "";
  if (!isUsed || name === undefined || past === "*" || past.split(",").includes(hostname)) return "";
  return `; ${name} is set, and its proxy gets this request unless NO_PROXY names ${hostname}`;
}
