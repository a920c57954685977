/** The suite: every case, and how they are run. */
import { LIMIT_MS } from "../../../support/limits.ts";
import { Bench, type Case, type Suite, type Traits } from "./bench.ts";
import { creation } from "./creation.ts";
import { errors } from "./errors.ts";
import { limits } from "./limits.ts";
import { platform } from "./platform.ts";
import { responses } from "./responses.ts";
import { retries } from "./retries.ts";
import { stacks } from "./stacks.ts";
import { stops } from "./stops.ts";
import { tokens } from "./tokens.ts";
import { walks } from "./walks.ts";

export interface Result {
  readonly name: string;
  /** `undefined` for a case that passed. */
  readonly failure: string | undefined;
}

const CASES: readonly Case[] = [
  ...platform,
  ...limits,
  ...walks,
  ...creation,
  ...errors,
  ...retries,
  ...tokens,
  ...stops,
  ...responses,
  ...stacks,
];

/** Each case has a service of its own, so they do not disturb each other; most of their time is waiting. */
const AT_ONCE = 10;

export function casesFor(traits: Traits): readonly Case[] {
  return CASES.filter(({ where }) => where?.(traits) ?? true);
}

/** Runs every case; rejects never. */
export async function runCases(suite: Suite): Promise<readonly Result[]> {
  const results: Result[] = [];
  const cases = casesFor(suite.traits);
  const work = async (left: Iterable<Case>): Promise<void> => {
    for (const { name, run } of left) {
      results.push({ name, failure: await failureOf(run, new Bench(suite)) });
    }
  };
  // They take from one iterator, so each case is run once.
  const together = cases.filter(({ isAlone }) => !isAlone).values();
  await Promise.all(Array.from({ length: AT_ONCE }, () => work(together)));
  await work(cases.filter(({ isAlone }) => isAlone));
  return results;
}

async function failureOf(run: Case["run"], bench: Bench): Promise<string | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    const hangs = (): Error => new Error(`no end after ${LIMIT_MS} ms; it waits for ${bench.waitsFor.join(", ")}`);
    timer = setTimeout(() => reject(hangs()), LIMIT_MS);
  });
  try {
    await Promise.race([run(bench), limit]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `${error.message}\n${error.stack ?? ""}` : String(error);
  } finally {
    clearTimeout(timer);
  }
}
