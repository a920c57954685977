import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/**
 * The receiver of a signal: this process alone, or each process of its group. npm repeats to this process what the
 * group got before.
 */
export type Receiver = "process" | "group" | "group before";

export interface Group {
  readonly receiverOf: (signal: NodeJS.Signals) => Promise<Receiver>;
  /** Counts signals of which no receiver was asked for as those of before, and resolves with their names. */
  readonly settle: () => Promise<readonly string[]>;
}

/** On Windows each program of the console gets what is typed, and there are no other signals. */
export const CONSOLE: Group = { receiverOf: async () => "group", settle: async () => [] };

/** A script that prints each of the signals that it gets, and each line that it reads. A signal may interrupt `read`. */
const witnessOf = (signals: readonly NodeJS.Signals[]): string => `
${signals.map((signal) => `trap 'hit=1; echo ${signal}' ${signal.slice("SIG".length)}`).join("\n")}
hit=
while read -r line || [ "$hit" ]; do hit=; echo "$line"; done`;

/**
 * Ctrl-C in a terminal goes to the whole group, and so to the program too: passed on, it would be there twice. Node does
 * not tell who a signal was sent to, so a witness stands in the group. It tells its signals before it answers a question
 * that was asked later.
 */
export function watchGroup(signals: readonly NodeJS.Signals[]): Group {
  const told = new Set<string>();
  const before = new Set<string>();
  const asked: (() => void)[] = [];
  const witness = spawn("sh", ["-c", witnessOf(signals)], { stdio: ["pipe", "pipe", "ignore"] });
  createInterface({ input: witness.stdout }).on("line", (line) => {
    if (line === "?") asked.shift()?.();
    else if (line !== "") told.add(line);
  });
  let isThere = true;
  const leave = (_code: unknown, signal?: string | null): void => {
    isThere = false;
    if (signal) told.add(signal);
    for (const answer of asked.splice(0)) answer();
  };
  witness.on("error", leave).on("close", leave);
  for (const pipe of [witness.stdin, witness.stdout]) pipe.on("error", () => undefined);
  const ask = async (): Promise<void> => {
    if (!isThere) return;
    await new Promise<void>((answer) => {
      asked.push(answer);
      witness.stdin.write("?\n");
    });
  };
  return {
    async receiverOf(signal) {
      await ask();
      if (!told.delete(signal)) return before.has(signal) ? "group before" : "process";
      before.add(signal);
      return "group";
    },
    async settle() {
      await ask();
      const settled = [...told];
      for (const signal of settled) before.add(signal);
      told.clear();
      return settled;
    },
  };
}
