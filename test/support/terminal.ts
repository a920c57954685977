import { spawnSync } from "node:child_process";

/** The program that gives another one a terminal; not every machine has it. */
export const hasTerminals: boolean = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout);
export const WHY_NO_TERMINALS = "there is no `script` of util-linux, which gives a program a terminal";

/**
 * The command line of a program on a terminal. `script` runs it by `$SHELL`, which may be any program, and a shell that
 * stays in the process group would be ended by Ctrl-C in place of the program: so it is `sh`, which the program replaces.
 */
export const onTerminal = (command: readonly string[]): readonly string[] => [
  ...["env", "SHELL=/bin/sh"],
  ...["script", "-qefc", `exec ${command.join(" ")}`, "/dev/null"],
];
