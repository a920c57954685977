import { randomInt } from "node:crypto";
import { once } from "node:events";
import { type Command, command, type Terminal } from "../../command/command.ts";
import { isError, isRecord } from "../../core/checks/values.ts";
import type { Feed } from "../../page/feed.ts";
import { withoutTokens } from "../../page/without-tokens.ts";
import type { FaultHandle } from "../faults.ts";
import { TOKEN_PREFIX } from "../options.ts";
import type { RecordedRequest } from "../request-log.ts";
import { FLAGS, parseStart, type Start } from "./arguments.ts";
import { writeDotenv } from "./dotenv.ts";
import { actOnLetter, type LetterEffects } from "./letters.ts";
import { conventionsLine, howToCall, logLine, world } from "./lines.ts";
import type { RunningEmulator, StartOptions } from "./running-emulator.ts";
import { type StartedServer, startServer } from "./start.ts";
import { linesOf, variablesOf, withoutProxy } from "./variables.ts";

/** A server may run for days; its log must not grow as long. */
const LOG_LIMIT = 1_000;

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
  run: (flags, terminal, program) => serve(parseStart(flags, program), terminal),
});

async function serve(start: Start, terminal: Terminal): Promise<number> {
  const { program, json } = start;
  const quiet = start.quiet || json;
  const stream = program === undefined ? "out" : "err";
  const print = terminal[stream];
  const say = quiet ? () => undefined : print;
  if (program !== undefined) say("starting the emulator …\n");
  const shown = withoutTokens(start.options.tokenPrefix ?? TOKEN_PREFIX);
  const onRequest = (request: RecordedRequest): void => print(shown(logLine(request, terminal.colour[stream])));
  const options: StartOptions = {
    logLimit: LOG_LIMIT,
    ...start.options,
    // Ids and tokens are made anew for each start: a web page must not know the token.
    random: () => randomInt(2 ** 32) / 2 ** 32,
    onRequest: quiet ? undefined : onRequest,
    page: true,
  };
  const { running, feed } = await listen(options);
  let stopTelling: (() => void) | undefined;
  try {
    const beforeFlags = disturb(running, start);
    const variables = variablesOf(running);
    if (start.dotenv !== undefined) await writeDotenv(start.dotenv, variables);
    if (!json) print(linesOf(variables));
    if (json) stopTelling = feed && tellAsJson(running, feed, print);
    say(`\n${world(running)}\n${conventionsLine(start.options)}${program === undefined ? howToCall(running) : ""}\n`);
    const status =
      program === undefined
        ? 0
        : await terminal.runProgram(program, { ...variables, ...withoutProxy(terminal.environment) });
    if (start.stays && !terminal.signal.aborted) {
      if (program !== undefined) say(`the command ended with ${status}; Ctrl-C ends the emulator\n`);
      if (terminal.typed !== undefined) say("a letter and Enter: h lists the letters, q ends the emulator\n");
      await stay(terminal, { running, beforeFlags, print: json ? () => undefined : print });
    }
    return status;
  } finally {
    stopTelling?.();
    await running.close();
  }
}

/** Prints the address and the token, then what happens, one JSON value a line, until the function that it returns is called. */
function tellAsJson({ baseUrl, token, page }: RunningEmulator, feed: Feed, print: Terminal["out"]): () => void {
  print(`${JSON.stringify({ v: 1, type: "listening", baseUrl, token, page })}\n`);
  return feed.listen((told) => print(told.map(({ json }) => `${json}\n`).join("")));
}

/** The port that is tried first: a page that is open finds the next emulator there. */
const USUAL_PORT = 4010;

/** Listens on the port that was asked for; without one on the usual port, or, if that is taken, on any free one. */
async function listen(options: StartOptions): Promise<StartedServer> {
  if (options.port !== undefined) return startServer(options);
  try {
    return await startServer({ ...options, port: USUAL_PORT });
  } catch (error) {
    const code = isError(error) && isRecord(error.cause) ? error.cause["code"] : undefined;
    // On Windows a port that is reserved is not permitted.
    if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
    return startServer({ ...options, port: 0 });
  }
}

type Stay = Pick<LetterEffects, "running" | "beforeFlags"> & { readonly print: Terminal["out"] };

/** Takes letters until the user ends it. */
async function stay({ signal, typed, openAddress }: Terminal, { print, ...others }: Stay): Promise<void> {
  const quitting = new AbortController();
  const { page = "" } = others.running;
  const openPage = async (): Promise<void> => {
    if (!(await openAddress(page))) print(`no browser could be started: open ${page} yourself\n`);
  };
  const effects = { ...others, openPage: () => void openPage(), quit: () => quitting.abort() };
  const stop = typed?.((line) => {
    const told = actOnLetter(line, effects);
    if (told !== undefined) print(`${told}\n`);
  });
  await once(AbortSignal.any([signal, quitting.signal]), "abort");
  stop?.();
}

/**
 * Puts `--fail` and `--latency` in force. Of two faults the older takes the request, so each has the delay. Returns a function
 * that lets the faults which a change adds go first.
 */
function disturb(
  { emulator }: RunningEmulator,
  { latencyMs: delayMs, failPercent }: Start,
): LetterEffects["beforeFlags"] {
  const always = { times: Infinity, delayMs };
  const add = (): FaultHandle[] => [
    ...(failPercent > 0 ? [emulator.fault({ ...always, status: 503, match: () => randomInt(100) < failPercent })] : []),
    ...(delayMs > 0 ? [emulator.fault(always)] : []),
  ];
  let faults = add();
  return (change) => {
    for (const fault of faults) fault.remove();
    const result = change();
    faults = add();
    return result;
  };
}
