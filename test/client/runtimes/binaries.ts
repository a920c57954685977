/** Which runtimes are at hand on this machine, and why others are not. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { installedNodes } from "../../support/packed.ts";
import { executablePath as chromium, WHY_NOT as whyNoChromium } from "../browser/chromium.ts";
import { firefoxPath, WHY_NO_FIREFOX } from "../browser/firefox.ts";

export type RuntimeKind = "node" | "bun" | "deno" | "workerd" | "chromium" | "firefox";

/** A runtime on this machine. */
export interface Runtime {
  readonly kind: RuntimeKind;
  /** With its major version, where it is known without asking. */
  readonly name: string;
  readonly executable: string;
}

/** One that is not here. */
export interface Missing {
  readonly name: string;
  readonly why: string;
  /** It has to be here in continuous integration. */
  readonly isDue: boolean;
}

const TOOLS = resolve(import.meta.dirname, "../../../tools/runtimes/node_modules");
const HAS_TOOLS = process.platform === "linux" && process.arch === "x64";
const WHY_NO_TOOL = HAS_TOOLS
  ? "it is not installed: node tools/runtimes/setup.mjs"
  : `its package is locked for linux-x64 only, and this is ${process.platform}-${process.arch}`;

/** What `engines` promises. */
const PROMISED_NODES = ["22", "24", "26"];

export function findRuntimes(): { readonly here: readonly Runtime[]; readonly missing: readonly Missing[] } {
  const nodes = installedNodes().map(({ version, path }) => ({ major: version.replace(/^v|\..*/g, ""), path }));
  const found: (Runtime | Missing)[] = [
    ...PROMISED_NODES.map((major) => {
      const path = nodes.find((node) => node.major === major)?.path;
      return tool("node", `Node ${major}`, path ?? `node-${major}/bin/node`);
    }),
    ...nodes
      .filter(({ major }) => !PROMISED_NODES.includes(major))
      .map(({ major, path }): Runtime => ({ kind: "node", name: `Node ${major} (not promised)`, executable: path })),
    tool("bun", "Bun", "@oven/bun-linux-x64/bin/bun"),
    tool("deno", "Deno", "@deno/linux-x64-glibc/deno"),
    tool("workerd", "workerd", "@cloudflare/workerd-linux-64/bin/workerd"),
    browser("chromium", { executable: chromium, why: whyNoChromium }),
    browser("firefox", {
      executable: firefoxPath,
      why: WHY_NO_FIREFOX,
    }),
  ];
  return {
    here: found.filter((one) => "executable" in one),
    missing: found.filter((one) => "why" in one),
  };
}

/** A runtime with its version, as it tells it. */
export function versionOf({ executable, name }: Runtime): string {
  const output = execFileSync(executable, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return `${name}: ${/\d[\w.-]*/.exec(output)?.[0] ?? "of no known version"}`;
}

function tool(kind: RuntimeKind, name: string, file: string): Runtime | Missing {
  const executable = resolve(TOOLS, file);
  return existsSync(executable) ? { kind, name, executable } : { name, why: WHY_NO_TOOL, isDue: HAS_TOOLS };
}

function browser(
  kind: "chromium" | "firefox",
  { executable, why }: { executable: string | undefined; why: string },
): Runtime | Missing {
  const name = kind === "chromium" ? "Chromium" : "Firefox";
  return executable === undefined ? { name, why, isDue: process.platform === "linux" } : { kind, name, executable };
}
