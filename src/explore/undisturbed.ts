import { differenceOf, type Undisturbed } from "./places.ts";
import { type ExploredRequest, requestsOf } from "./requests.ts";
import { makeRun, type Setup } from "./run.ts";
import { type End, type RunRecord, startsOf } from "./run-record.ts";
import type { Reference } from "./verdict.ts";
import { unsteadyFields } from "./world.ts";

/** The undisturbed program, as far as an exploration needs to know it. */
export interface Learnt extends Undisturbed {
  readonly reference: Reference;
  readonly longestMs: number;
}

const LIMIT_MS = 60_000;

/** Runs the program undisturbed: three times, once with requests that change places. Rejects if it cannot be explored. */
export async function learn(setup: Setup): Promise<Learnt> {
  const plan = { limitMs: setup.options.timeoutMs ?? LIMIT_MS };
  const make = async (isReordered: boolean): Promise<RunRecord> => {
    const run = await makeRun(setup, { ...plan, isReordered });
    const problem = problemOf(run, setup.options.compare ?? []);
    if (problem !== undefined) throw new Error(`the undisturbed program ${problem}`);
    return run;
  };
  const run = await make(false);
  const runs = [run, await make(false), await make(true)];
  const [one, ...others] = runs.map(requestsIn);
  for (const other of others) {
    const difference = one && (differenceOf(one.first, other.first) ?? differenceOf(one.again, other.again));
    if (difference !== undefined) {
      throw new Error(
        `two undisturbed runs differ: ${difference}; likely by a file outside of the folder, the clock, or chance`,
      );
    }
  }
  const unsteady = unsteadyFields(runs.map(({ first, again }) => [...first.things, ...(again?.things ?? [])]));
  const longestMs = Math.max(...runs.flatMap(startsOf).map(({ ms }) => ms));
  return { ...requestsIn(run), reference: { run, unsteady }, longestMs };
}

/** The reason for which nothing can be said about a program, behind its name. */
function problemOf(run: RunRecord, compared: readonly string[]): string | undefined {
  const [start] = run.first.starts;
  if (start?.outcome.state === "hangs")
    return `${start.outcome.words}; a daemon needs a way to do one round, and a slow program --timeout`;
  if (start?.outcome.state !== "done")
    return `${start?.outcome.words}; it runs in a copy of its folder, so name what lies outside by a whole path`;
  if (start.requests.length === 0) return "sent no request to PROJECT_AUTOMATION_BASE_URL, so nothing can fail";
  const missing = compared.find(
    (name) => name !== "-" && !run.first.things.some(({ kind }) => kind === `file ${name}`),
  );
  return missing === undefined ? undefined : `does not make the file ${missing}, which is to be compared`;
}

function requestsIn(run: RunRecord): Undisturbed {
  const logOf = (end: End | undefined) => (end?.starts ?? []).flatMap(({ requests }) => requests);
  const first = logOf(run.first);
  const all: readonly ExploredRequest[] = requestsOf([...first, ...logOf(run.again)]);
  return { first: all.slice(0, first.length), again: all.slice(first.length) };
}
