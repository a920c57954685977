import { VERSION } from "./client/version.ts";
import { type Command, say, type Terminal } from "./command/command.ts";
import { USAGE } from "./command/flags.ts";
import { closestName } from "./core/checks/hints.ts";

interface Entry {
  /** The effect, as a line of the help. */
  readonly about: string;
  /** Only the command that is called is loaded. */
  readonly load: () => Promise<Command>;
}

/** The commands, in the order of the help. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  emulator: {
    about: "run the service in memory, on a port of this machine",
    load: async () => (await import("./emulator/node/command.ts")).EMULATOR,
  },
  explore: {
    about: "run a program again and again, while its requests fail in each way",
    load: async () => (await import("./explore/command.ts")).EXPLORE,
  },
  doctor: {
    about: "ask a deployment of the service how it differs from what the client assumes",
    load: async () => (await import("./doctor/node/command.ts")).DOCTOR,
  },
  mcp: {
    about: "serve the operations of the client as tools for agents, over standard input and output",
    load: async () => (await import("./mcp/node/command.ts")).MCP,
  },
};

const NAMES = Object.keys(COMMANDS);
const WIDTH = Math.max(...NAMES.map((name) => name.length));

/** The text of `project-automation --help`. */
export const HELP: string = `Usage: project-automation <command> [flags]

${Object.entries(COMMANDS)
  .map(([name, { about }]) => `  ${name.padEnd(WIDTH)}  ${about}\n`)
  .join("")}
  --help     print this (-h); behind a command: its flags
  --version  print the version
`;

/** Runs the command that the first word names, and resolves with the exit code. Never rejects. */
export async function runBin([word, ...rest]: readonly string[], terminal: Terminal): Promise<number> {
  if (word === "--help" || word === "-h" || word === "--version") {
    terminal.out(word === "--version" ? `${VERSION}\n` : HELP);
    return 0;
  }
  const entry = word !== undefined && Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  if (entry !== undefined) return (await entry.load()).run(rest, terminal);
  const words = [...NAMES, "--help", "--version"];
  const meant = word === undefined ? undefined : closestName(word, words);
  const given = word === undefined ? "" : `, not "${word.slice(0, 40)}"`;
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
  say("", terminal, `the first word must be one of ${words.join(", ")}${given}${hint}`);
  return USAGE;
}
