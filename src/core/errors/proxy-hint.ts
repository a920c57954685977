import { ignoreErrors } from "../checks/ignore-errors.ts";
import { isLoopback, type Service } from "../wire/base-url.ts";

type Names = Readonly<Record<string, string | undefined>>;

/** A sentence on a proxy of the environment that gets the requests to a service on this machine; empty without one. */
export function proxyHint(service: Service): string {
  // A browser has no process, and Deno asks for a permission.
  return ignoreErrors(() => hintOf(new URL(service), globalThis as unknown as Environment)) ?? "";
}

interface Environment {
  readonly process: { readonly env: Names; readonly versions: Names };
}

function hintOf({ protocol, hostname }: URL, { process: { env, versions } }: Environment): string {
  if (!isLoopback(hostname)) return "";
  const isNode = (versions["bun"] ?? versions["deno"]) === undefined;
  if (isNode && env["NODE_USE_ENV_PROXY"] !== "1") return "";
  const name = [protocol.replace(":", "_proxy"), ...(isNode ? [] : ["all_proxy"])]
    .flatMap((one) => [one.toUpperCase(), one])
    .find((one) => env[one]);
  const past = env["no_proxy"] || env["NO_PROXY"] || "";
  if (name === undefined || past.includes("*") || past.includes(hostname)) return "";
  return `; ${name} sends it to a proxy: name ${hostname} in NO_PROXY`;
}
