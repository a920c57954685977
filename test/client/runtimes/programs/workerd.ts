/** The suite in a worker of workerd, which has both formats as modules of its configuration, and no Node. */
import type { Copy } from "../conformance/bench.ts";
import { type Doors, runProgram, type Settings } from "./run.ts";

type Format = "ESM" | "CommonJS";

async function openAs(format: Format): Promise<Doors> {
  const open = async (name: string): Promise<unknown> => {
    const file = `./package/${name}.${format === "ESM" ? "js" : "cjs"}`;
    const module = (await import(file)) as { default?: unknown };
    return format === "ESM" ? module : module.default;
  };
  return {
    pkg: await open("index"),
    testing: await open("testing/index"),
  } as Doors;
}

async function otherCopy(format: Format): Promise<Copy> {
  const other: Format = format === "ESM" ? "CommonJS" : "ESM";
  return { name: `the ${other} copy`, pkg: (await openAs(other)).pkg };
}

export const worker = {
  async test(_controller: unknown, { SETTINGS, FORMAT }: { SETTINGS: string; FORMAT: Format }): Promise<void> {
    await runProgram(JSON.parse(SETTINGS) as Settings, {
      open: () => openAs(FORMAT),
      copies: async () => [await otherCopy(FORMAT)],
      complaints: [],
    });
  },
};
