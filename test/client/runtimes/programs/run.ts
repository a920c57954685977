import type { Copy, Suite, Traits } from "../conformance/bench.ts";
import { type Result, runCases } from "../conformance/index.ts";
import { differences, surroundings } from "./surroundings.ts";

/** What the harness tells a program. */
export interface Settings {
  /** Of the service's process. */
  readonly origin: string;
  /** Names this run in its report. */
  readonly run: string;
  readonly traits: Traits;
}

export interface Report {
  readonly results: readonly Result[];
  /** What went wrong outside the cases. */
  readonly complaints: readonly string[];
}

export type Doors = Pick<Suite, "pkg" | "testing">;

export interface Program {
  /** Imports the package, which has not been imported before. */
  readonly open: () => Promise<Doors>;
  /** Other copies, after that. */
  readonly copies: () => Promise<readonly Copy[]>;
  /** Grows while the program runs. */
  readonly complaints: readonly string[];
}

/** Asks the service's process at an origin. */
export function asking(origin: string): Suite["ask"] {
  return async (path, question = {}) => {
    // As a string it is plain text, which a browser sends without asking first.
    const response = await fetch(origin + path, { method: "POST", body: JSON.stringify(question) });
    const said: unknown = await response.json();
    if (!response.ok) throw new Error(`the service's process: ${JSON.stringify(said)}`);
    return said;
  };
}

/** Imports, runs every case, and leaves the report with the harness. */
export async function runProgram(settings: Settings, { open, copies, complaints }: Program): Promise<void> {
  const ask = asking(settings.origin);
  const report = (results: readonly Result[], more: readonly string[]): Promise<unknown> =>
    ask(`/report/${settings.run}`, { results, complaints: [...complaints, ...more] } satisfies Report);
  try {
    const before = surroundings();
    // What differs from one look to the next does so by itself.
    const restless = differences(before, surroundings());
    const entryPoints = await open();
    const touched = differences(before, surroundings()).filter((name) => !restless.includes(name));
    const { traits } = settings;
    await report(await runCases({ ...entryPoints, copies: await copies(), traits, touched, ask }), []);
  } catch (error) {
    await report([], [error instanceof Error ? `${error.message}\n${error.stack}` : String(error)]);
  }
}
