import { parseConnection, SERVICE, type Terminal } from "../../command/command.ts";
import type { Flags, Values } from "../../command/flags.ts";
import type { Deployment } from "../ask.ts";

export const FLAGS = {
  ...SERVICE,
  write: { about: "also create one token without scopes, look at it, and revoke it" },
  all: { about: "print every question, and not only what differs" },
  json: { about: "print the report as JSON, with every question" },
  out: { value: "FILE", about: "write the conventions of the deployment, for the emulator's --seed" },
} as const satisfies Flags;

export function parseDeployment(flags: Values<typeof FLAGS>, terminal: Pick<Terminal, "environment">): Deployment {
  return { ...parseConnection(flags, terminal), write: flags.write === true };
}
