import { spawn } from "node:child_process";
import { once } from "node:events";

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an address in the user's browser. Resolves with whether that worked, as far as the system says. */
export async function openAddress(address: string): Promise<boolean> {
  const [program = "", ...words] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...words, address], { detached: true, stdio: "ignore" });
  const status = await once(child, "exit").catch(() => [undefined]);
  return status[0] === 0;
}
