/** `project-automation explore` as a process, in a folder with the programs and the built package. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { ExplorationReport } from "project-automation/testing/node";
import { NODE, type Platform } from "../../support/platforms.ts";
import { WatchedProcess } from "../../support/watched-process.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

/** A folder that has the programs, and another one for the copies. */
export interface Place extends Disposable {
  readonly folder: string;
  /** The copies that are there. */
  readonly copies: () => string[];
  /** Starts the command, in a process group of its own. */
  readonly start: (args: readonly string[], platform?: Platform) => WatchedProcess;
  /** Runs the command to its end. */
  readonly explore: (args: readonly string[], platform?: Platform) => Promise<Explored>;
}

export interface Explored {
  readonly status: unknown;
  /** The findings: each kind once, the worst first. */
  readonly kinds: readonly string[];
  readonly report: ExplorationReport;
}

export function createPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "programs-"));
  const temporary = mkdtempSync(join(tmpdir(), "copies-"));
  cpSync(join(import.meta.dirname, "programs"), folder, { recursive: true });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules/project-automation"), "junction");
  const start: Place["start"] = (args, platform = NODE) =>
    new WatchedProcess([...platform, join(ROOT, "dist/bin.js"), "explore", ...args], {
      cwd: folder,
      detached: true,
      env: { ...process.env, TMPDIR: temporary },
    });
  return {
    folder,
    copies: () => readdirSync(temporary),
    start,
    explore: async (args, platform) => {
      const command = start(["--json", ...args], platform);
      const status = await command.ended;
      if (command.stdout === "") throw new Error(command.stderr);
      const report = JSON.parse(command.stdout) as ExplorationReport; // as it is printed
      return { status, kinds: [...new Set(report.findings.map(({ what }) => what))], report };
    },
    [Symbol.dispose]: () => {
      for (const path of [folder, temporary]) rmSync(path, { recursive: true, force: true });
    },
  };
}
