import { findRuntimes } from "../client/runtimes/binaries.ts";

/** A runtime that programs of users run on: the program, and its arguments in front of a file. */
export type Platform = readonly [program: string, ...args: string[]];

/** This Node, without warnings: older ones say that they strip types. */
export const NODE: Platform = [process.execPath, "--disable-warning=ExperimentalWarning"];

const DENO_FLAGS = ["--allow-all", "--no-prompt", "--no-config", "--no-lock", "--node-modules-dir=manual"];

/** The runtimes beside Node that are at hand, each with all permissions. */
export const OTHER_PLATFORMS: readonly { readonly name: string; readonly platform: Platform }[] =
  findRuntimes().here.flatMap(({ kind, name, executable }): { name: string; platform: Platform }[] => {
    if (kind === "bun") return [{ name, platform: [executable, "run", "--no-install"] }];
    return kind === "deno" ? [{ name, platform: [executable, "run", ...DENO_FLAGS] }] : [];
  });
