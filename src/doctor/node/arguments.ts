import { flawOfToken } from "../../auth/token-format.ts";
import { readService, type Terminal } from "../../bin/command.ts";
import { type Flags, UsageError, type Values } from "../../bin/flags.ts";
import { checkBaseUrl, checkTransport } from "../../request/url.ts";
import type { Deployment } from "../ask.ts";

/** The flags of `project-automation doctor`. */
export const FLAGS = {
  "base-url": {
    value: "URL",
    about: "where the service is, with its version segment (default: PROJECT_AUTOMATION_BASE_URL)",
  },
  write: { about: "also create one token without scopes, look at it, and revoke it" },
  all: { about: "print every question, and not only what differs" },
  json: { about: "print the report as JSON, with every question" },
  out: { value: "FILE", about: "write the conventions of the deployment, for the emulator's --seed" },
  values: { about: "write values of real records into that file, in place of placeholders" },
  "allow-insecure-http": { about: "send the token over plain http: to another machine, where others can read it" },
} as const satisfies Flags;

/** The deployment that the flags and the environment name. Throws an error whose message holds no secret. */
export function readDeployment(flags: Values<typeof FLAGS>, terminal: Pick<Terminal, "environment">): Deployment {
  const { address, token } = readService(flags["base-url"], terminal);
  const flaw = flawOfToken(token);
  if (flaw !== undefined) throw new UsageError(`PROJECT_AUTOMATION_TOKEN ${flaw}`);
  if (flags.values === true && flags.out === undefined) throw new UsageError("--values needs --out FILE");
  return { baseUrl: addressOf(address, flags["allow-insecure-http"] === true), token, write: flags.write === true };
}

function addressOf(address: string, allowInsecureHttp: boolean): URL {
  const baseUrl = new URL(checkBaseUrl(address));
  try {
    checkTransport(baseUrl, allowInsecureHttp);
  } catch {
    throw new UsageError(
      "the address is plain http: to another machine, where others can read the token; use https:, or --allow-insecure-http",
    );
  }
  return baseUrl;
}
