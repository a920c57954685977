import { writeFile } from "node:fs/promises";
import { Redactor } from "../../request/redact.ts";
import { VERSION } from "../../version.ts";
import type { Surroundings } from "../ask.ts";
import { diagnose } from "../diagnose.ts";
import { exitCodeOf, tableOf } from "../report.ts";
import { type Command, type Environment, readCommand, USAGE } from "./arguments.ts";

/** What the command needs of the process it runs in. */
export interface Terminal extends Omit<Surroundings, "notify"> {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly environment: Environment;
  /** How many characters a line has. */
  readonly columns: number;
}

/** A narrower table would break every word, a wider one is hard to read. */
const LEAST_COLUMNS = 80;
const MOST_COLUMNS = 160;
const COULD_NOT_ASK = 2;

/** Runs `project-automation-doctor`, and resolves with its exit code. Never rejects. */
export async function runCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const command = readCommand(argv, terminal.environment);
    if (command.kind === "diagnose") return await run(command, terminal);
    terminal.out(command.kind === "help" ? USAGE : `${VERSION}\n`);
    return 0;
  } catch (error) {
    say(terminal, error instanceof Error ? error.message : String(error));
    return COULD_NOT_ASK;
  }
}

async function run(command: Extract<Command, { kind: "diagnose" }>, terminal: Terminal): Promise<number> {
  const { deployment, json, out } = command;
  const around = { ...terminal, notify: (line: string) => say(terminal, line) };
  const { report, seed } = await diagnose(deployment, around);
  const columns = Math.min(Math.max(terminal.columns, LEAST_COLUMNS), MOST_COLUMNS);
  terminal.out(json ? `${JSON.stringify(report, undefined, 2)}\n` : tableOf(report, columns));
  if (report.tokenLeftBehind)
    say(terminal, "the token that was created was not revoked: do so in the account settings");
  // A file of an earlier run is worth more than one that says nothing.
  if (out !== undefined && report.result !== "not_asked") {
    await writeFile(out, `${JSON.stringify(seed, undefined, 2)}\n`);
  }
  return exitCodeOf(report);
}

function say({ err, environment }: Terminal, line: string): void {
  const secrets = [environment["PROJECT_AUTOMATION_TOKEN"] ?? ""].filter(Boolean);
  err(`project-automation-doctor: ${new Redactor(secrets).line(line, 500)}\n`);
}
