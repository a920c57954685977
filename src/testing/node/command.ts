import { randomInt } from "node:crypto";
import { VERSION } from "../../version.ts";
import { type RunningEmulator, startEmulator } from "../node.ts";
import type { RecordedRequest } from "../request-log.ts";
import { type Command, messageOf, readCommand, USAGE } from "./arguments.ts";

/** What the command needs of the process it runs in. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether `out` shows colours. */
  readonly colour: boolean;
  /** Resolves when the user wants the command to end. */
  readonly interrupted: Promise<void>;
}

type Start = Extract<Command, { kind: "start" }>;

/** A server may run for days; its log must not grow as long. */
const LOG_BOUNDS = { logLimit: 1_000, logBytes: 8 * 1024 * 1024 };

/**
 * Runs `project-automation-emulator` until it is interrupted, and resolves with its exit code: 0 after an interrupt,
 * 2 for an invalid command line, 1 if it cannot start. Never rejects.
 */
export async function runCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  const fail = (code: number, error: unknown): number => {
    terminal.err(`project-automation-emulator: ${messageOf(error)}\n`);
    return code;
  };
  let command: Command;
  try {
    command = readCommand(argv);
  } catch (error) {
    return fail(2, error);
  }
  if (command.kind !== "start") {
    terminal.out(command.kind === "help" ? USAGE : `${VERSION}\n`);
    return 0;
  }
  try {
    await serve(command, terminal);
    return 0;
  } catch (error) {
    return fail(error instanceof TypeError ? 2 : 1, error);
  }
}

async function serve(command: Start, terminal: Terminal): Promise<void> {
  const onRequest = (request: RecordedRequest): void => terminal.out(logLine(request, terminal.colour));
  const running = await startEmulator({
    ...LOG_BOUNDS,
    ...command.options,
    // Ids and tokens are made anew for each start: a web page must not know the token.
    random: () => randomInt(2 ** 32) / 2 ** 32,
    onRequest: command.quiet ? undefined : onRequest,
  });
  disturb(running, command);
  terminal.out(variables(running));
  if (!command.quiet) terminal.out(snippet(running));
  await terminal.interrupted;
  await running.close();
}

/** Puts `--fail` and `--latency` in force. Of two faults the older takes the request, so each has the delay. */
function disturb({ emulator }: RunningEmulator, { latencyMs: delayMs, failPercent }: Start): void {
  const always = { times: Infinity, delayMs };
  if (failPercent > 0) emulator.fault({ ...always, status: 503, match: () => randomInt(100) < failPercent });
  if (delayMs > 0) emulator.fault(always);
}

function variables({ baseUrl, token }: RunningEmulator): string {
  return `PROJECT_AUTOMATION_BASE_URL=${baseUrl}\nPROJECT_AUTOMATION_TOKEN=${token}\n`;
}

function snippet({ baseUrl, token }: RunningEmulator): string {
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
