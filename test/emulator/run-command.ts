/** `project-automation emulator` in this process. */
import { expect } from "vitest";
import type { Terminal } from "../../src/command/command.ts";
import { EMULATOR } from "../../src/emulator/node/command.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { ask, type ReadResponse } from "./transports.ts";

export interface Run {
  readonly out: () => string;
  readonly err: () => string;
  /** The variable of a line `NAME=value`. */
  readonly variable: (name: "BASE_URL" | "TOKEN") => string;
  readonly get: (path: string, token?: string) => Promise<ReadResponse>;
  readonly interrupt: () => void;
  /** Types a line into the terminal. */
  readonly type: (line: string) => void;
  /** The addresses that were opened in the browser. */
  readonly opened: readonly string[];
  readonly code: Promise<number>;
}

/** Runs the command; without `--port`, on any free one, since tests run at the same time. */
export function run(...argv: string[]): Run {
  return runAsGiven(...(argv.includes("--port") ? argv : ["--port", "0", ...argv]));
}

/** Runs the command with these words and no others. */
export function runAsGiven(...argv: string[]): Run {
  let out = "";
  let err = "";
  const interruption = new AbortController();
  const opened: string[] = [];
  const listeners = new Set<(line: string) => void>();
  const terminal: Terminal = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    colour: { out: false, err: false },
    runProgram: async () => 0,
    openAddress: async (address) => opened.push(address) < 2, // a second browser cannot be started
    typed: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    columns: 100,
    environment: {},
    signal: interruption.signal,
  };
  const variable: Run["variable"] = (name) =>
    new RegExp(`^PROJECT_AUTOMATION_${name}=(.*)$`, "m").exec(out + err)?.[1] ?? "";
  const get = async (path: string, token = variable("TOKEN")): Promise<ReadResponse> => {
    const opened = { emulator: { ...createEmulator(), baseUrl: variable("BASE_URL") }, fetch: globalThis.fetch };
    return ask({ ...opened, [Symbol.asyncDispose]: async () => undefined }, path, { token });
  };
  const interrupt = (): void => interruption.abort();
  const type = (line: string): void => {
    for (const listener of listeners) listener(line);
  };
  return { out: () => out, err: () => err, variable, get, interrupt, type, opened, code: EMULATOR.run(argv, terminal) };
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
