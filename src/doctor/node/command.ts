import { writeFile } from "node:fs/promises";
import { type Command, command, parseConnection, SERVICE, say } from "../../command/command.ts";
import { Deadline } from "../../core/time/deadline.ts";
import type { Surroundings } from "../ask.ts";
import { diagnose } from "../diagnose.ts";
import { exitCodeOf, textOf } from "../report.ts";
import { TOKEN_NAME } from "../token-steps.ts";
import { ignoredProxy } from "./ignored-proxy.ts";
import { sendByNode } from "./send.ts";

export interface World extends Pick<Surroundings, "send" | "wallClock"> {
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Narrower lines would break every word, wider ones are hard to read. */
const LEAST_COLUMNS = 80;
const MOST_COLUMNS = 160;

const ABOUT = `Asks a deployment of the service how it differs from what the client and the emulator assume, and says what follows.
It sends only GETs unless --write is given, one at a time, and waits out a 429, for two minutes at most.
`;

const NOTES = `The token is read from PROJECT_AUTOMATION_TOKEN only: other users of a machine can read a command line.
Exit codes: 0 nothing contradicts the API documentation, 1 something does, 2 the deployment could not be asked.
`;

export function doctorIn(world: World): Command {
  return command({
    name: "doctor",
    about: ABOUT,
    flags: {
      ...SERVICE,
      write: { about: "also create one token without scopes, look at it, and revoke it" },
      all: { about: "print every question, and not only what differs" },
      json: { about: "print the report as JSON, with every question" },
      out: { value: "FILE", about: "write the conventions of the deployment, for the emulator's --seed" },
    },
    notes: NOTES,
    failure: 2,
    run: async (flags, terminal) => {
      const notify = (line: string): void => say("doctor", terminal, line);
      const deployment = { ...parseConnection(flags, terminal), write: flags.write === true };
      const { report, isComplete, seed } = await diagnose(deployment, {
        ...world,
        // A write that is interrupted may be carried out all the same.
        send: (request) => world.send(request, request.method === "GET" ? terminal.signal : undefined),
        sleep: (ms) => world.sleep(ms, terminal.signal),
        signal: terminal.signal,
        notify,
        ignoredProxy: ignoredProxy(deployment.baseUrl, terminal.environment),
      });
      const width = Math.min(Math.max(terminal.columns, LEAST_COLUMNS), MOST_COLUMNS);
      const text = flags.json === true ? jsonOf(report) : textOf(report, { width, all: flags.all === true });
      terminal.out(text);
      if (report.tokenLeftBehind) {
        notify(`the token "${TOKEN_NAME}" may still be there: revoke it in the account settings`);
      }
      // The file of an earlier run stays if this one was stopped.
      if (flags.out !== undefined && isComplete) {
        await writeFile(flags.out, jsonOf(seed));
      }
      return exitCodeOf(report);
    },
  });
}

function jsonOf(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

export const DOCTOR: Command = doctorIn({
  send: sendByNode,
  async sleep(ms, signal) {
    const deadline = Deadline.of(Number.POSITIVE_INFINITY, signal);
    await deadline.sleep(ms).catch(() => {}); // an abort ends the wait, and what comes after it looks at the signal
    deadline.release();
  },
  wallClock: () => Date.now(),
});
