/** `project-automation emulator` in this process. */
import { expect } from "vitest";
import type { Terminal } from "../../src/command/command.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { EMULATOR } from "../../src/testing/node/command.ts";
import { ask, type ReadResponse } from "./transports.ts";

export interface Run {
  readonly out: () => string;
  readonly err: () => string;
  /** The variable of a line `NAME=value`. */
  readonly variable: (name: "BASE_URL" | "TOKEN") => string;
  readonly get: (path: string, token?: string) => Promise<ReadResponse>;
  readonly interrupt: () => void;
  readonly code: Promise<number>;
}

export function run(...argv: string[]): Run {
  let out = "";
  let err = "";
  const interruption = new AbortController();
  const terminal: Terminal = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    colour: { out: false, err: false },
    runProgram: async () => 0,
    columns: 100,
    environment: {},
    signal: interruption.signal,
  };
  const variable: Run["variable"] = (name) => new RegExp(`^PROJECT_AUTOMATION_${name}=(.*)$`, "m").exec(out)?.[1] ?? "";
  const get = async (path: string, token = variable("TOKEN")): Promise<ReadResponse> => {
    const opened = { emulator: { ...createEmulator(), baseUrl: variable("BASE_URL") }, fetch: globalThis.fetch };
    return ask({ ...opened, [Symbol.asyncDispose]: async () => undefined }, path, { token });
  };
  const interrupt = (): void => interruption.abort();
  return { out: () => out, err: () => err, variable, get, interrupt, code: EMULATOR.run(argv, terminal) };
}

export async function started(...argv: string[]): Promise<Run> {
  const running = run(...argv);
  await expect.poll(() => running.variable("TOKEN") + running.err()).not.toBe("");
  return running;
}

export async function stopped(running: Run): Promise<number> {
  running.interrupt();
  return running.code;
}
