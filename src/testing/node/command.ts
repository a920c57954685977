import { randomInt } from "node:crypto";
import { once } from "node:events";
import { type Command, command, type Terminal } from "../../command/command.ts";
import type { Emulator } from "../emulator.ts";
import { type RunningEmulator, startEmulator } from "../node.ts";
import type { RecordedRequest } from "../request-log.ts";
import type { EmulatorSession } from "../tables.ts";
import { FLAGS, readStart, type Start } from "./arguments.ts";
import { checkDotenv, writeDotenv } from "./dotenv.ts";
import { linesOf, type Variables } from "./dotenv-text.ts";

/** A server may run for days; its log must not grow as long. */
const LOG_BOUNDS = { logLimit: 1_000, logBytes: 8 * 1024 * 1024 };

/**
 * `project-automation emulator`: runs until it is interrupted, and then ends with 0; with 1 if it cannot listen. With a
 * program behind `--` it runs as long as that, and ends with its exit code.
 */
export const EMULATOR: Command = command({
  name: "emulator",
  about: `Runs the Project Automation API in memory, with state, on a port of this machine. With a COMMAND it runs that with the
address and the token as variables, ends with it, and prints its own lines on standard error.
`,
  flags: FLAGS,
  takesProgram: true,
  failure: 1,
  run: (flags, terminal, program) => serve(readStart(flags, program), terminal),
});

async function serve(start: Start, terminal: Terminal): Promise<number> {
  const { program, quiet } = start;
  if (start.dotenv !== undefined) await checkDotenv(start.dotenv);
  const stream = program === undefined ? "out" : "err";
  const print = terminal[stream];
  if (program !== undefined && !quiet) print("starting the emulator …\n");
  const onRequest = (request: RecordedRequest): void => print(logLine(request, terminal.colour[stream]));
  const running = await startEmulator({
    ...LOG_BOUNDS,
    ...start.options,
    // Ids and tokens are made anew for each start: a web page must not know the token.
    random: () => randomInt(2 ** 32) / 2 ** 32,
    onRequest: quiet ? undefined : onRequest,
  });
  try {
    disturb(running, start);
    const variables = variablesOf(running);
    if (start.dotenv !== undefined) await writeDotenv(start.dotenv, variables);
    print(linesOf(variables));
    if (!quiet)
      print(
        `\n${world(running.emulator)}\n${conventionsLine(start)}${program === undefined ? howToCall(running) : ""}\n`,
      );
    const status = program === undefined ? 0 : await terminal.runProgram(program, variables);
    if (start.stays && !terminal.signal.aborted) {
      if (program !== undefined && !quiet) print(`the command ended with ${status}; Ctrl-C ends the emulator\n`);
      await once(terminal.signal, "abort");
    }
    return status;
  } finally {
    await running.close();
  }
}

/** Puts `--fail` and `--latency` in force. Of two faults the older takes the request, so each has the delay. */
function disturb({ emulator }: RunningEmulator, { latencyMs: delayMs, failPercent }: Start): void {
  const always = { times: Infinity, delayMs };
  if (failPercent > 0) emulator.fault({ ...always, status: 503, match: () => randomInt(100) < failPercent });
  if (delayMs > 0) emulator.fault(always);
}

function variablesOf({ baseUrl, token }: RunningEmulator): Variables {
  return { PROJECT_AUTOMATION_BASE_URL: baseUrl, PROJECT_AUTOMATION_TOKEN: token };
}

/** More names would hide what follows. */
const SHOWN_NAMES = 5;

/** The world in three lines: projects, a session, the token. */
function world({ projects, sessions, tokens }: Emulator): string {
  const names = projects.list().map(({ name }) => name);
  const more = names.length > SHOWN_NAMES ? `, … (${names.length})` : "";
  const [session] = sessions.list();
  const [token] = tokens.list();
  return `projects: ${names.slice(0, SHOWN_NAMES).join(", ") || "none"}${more}
session:  ${session === undefined ? "none" : `${session.id} of ${projects.get(session.project)?.name}, ${pathOf(session)}`}
token id: ${token?.id}`;
}

/** A file of another service's conventions is noticed. */
function conventionsLine({ options: { conventionsOf } }: Start): string {
  return conventionsOf === undefined ? "" : `conventions of ${conventionsOf}\n`;
}

function pathOf({ state, states }: EmulatorSession): string {
  return states.length === 0 ? state : `${states.join(", then ")}: the next state after each GET`;
}

function howToCall({ baseUrl, token }: RunningEmulator): string {
  return `
From a shell:

  curl -H "Authorization: Bearer ${token}" "${baseUrl}/projects"

From a program:

  import { Client } from "project-automation";
  const client = new Client({
    baseUrl: "${baseUrl}",
    token: "${token}",
  });
  for await (const project of client.projects.list()) console.log(project.name);

Ctrl-C ends it.

`;
}

const GREEN = 32;
const YELLOW = 33;
const RED = 31;
const GREY = 90;

/** A line on a request that has ended, such as `12:00:00.000 201 POST /api/v1/me/tokens 3 ms`. */
export function logLine(request: RecordedRequest, colour: boolean): string {
  const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[39m` : text);
  const { at, endedAt = at, status, outcome, faulty } = request;
  const told = outcome === "completed" ? String(status) : [status, outcome].filter(Boolean).join(" ");
  const statusColour = status === undefined || status >= 500 ? RED : status >= 400 ? YELLOW : GREEN;
  const parts = [
    paint(GREY, new Date(at).toISOString().slice(11, 23)),
    paint(outcome === "completed" ? statusColour : RED, told),
    request.method,
    // What a client sends must not reach the terminal as a control sequence.
    request.url.replaceAll(/[^\x20-\x7e]/g, "?"),
    paint(GREY, `${endedAt - at} ms${faulty ? " (scripted)" : ""}${request.code ? ` ${request.code}` : ""}`),
  ];
  return `${parts.join(" ")}\n`;
}
