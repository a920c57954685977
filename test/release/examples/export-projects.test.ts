import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningEmulator, type StartOptions, startEmulator } from "project-automation/testing/node";
import { describe, expect, test } from "vitest";
import { hasTerminals, WHY_NO_TERMINALS } from "../../support/terminal.ts";
import { Program, run, type Start, temporaryFolder } from "./program.ts";

const COMMAND = ["export-projects.ts", "out.ndjson"];

interface Setup extends AsyncDisposable {
  readonly service: RunningEmulator;
  readonly start: Start;
  readonly file: string;
}

async function setUp(options: StartOptions = {}): Promise<Setup> {
  const folder = temporaryFolder();
  const service = await startEmulator({ projects: 1_000, sessionsPerProject: 0, ...options });
  return {
    service,
    start: { service, folder: folder.path },
    file: join(folder.path, "out.ndjson"),
    [Symbol.asyncDispose]: async () => {
      await service.close();
      folder[Symbol.dispose]();
    },
  };
}

/** Each project once, in order, and nothing left that says the export is not whole. */
function expectWhole({ service, file }: Setup): void {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual(service.emulator.projects.list());
  expect(existsSync(`${file}.checkpoint`)).toBe(false);
}

describe.concurrent("export-projects", () => {
  test("writes every project, and without a terminal a line for each page and each pause", async () => {
    await using setup = await setUp();
    setup.service.emulator.fault({ skip: 2, status: 429, headers: { "retry-after": "1" } });
    const { code, output } = await run(COMMAND, setup.start);
    expect(output.trimEnd().split("\n")).toEqual([
      "200 projects, 1 page",
      "400 projects, 2 pages",
      expect.stringMatching(/^400 projects, 2 pages; rate limit: going on in [12] s$/),
      "600 projects, 3 pages",
      "800 projects, 4 pages",
      "1000 projects, 5 pages",
      expect.stringMatching(/^done: 1000 projects in out\.ndjson, after [1-9] s of waiting$/),
    ]);
    expect(code).toBe(0);
    expectWhole(setup);
  });

  test("stops at SIGINT with 130, and goes on from there", async () => {
    await using setup = await setUp();
    const silence = setup.service.emulator.fault({ skip: 2, delayMs: Number.POSITIVE_INFINITY });
    const program = new Program(COMMAND, setup.start);
    await program.says(/400 projects/);
    program.kill("SIGINT");
    expect(await program.ended).toBe(130);
    expect(program.output).toContain("stopped after 400 projects; the same command goes on from here");

    silence.remove();
    const before = setup.service.emulator.requests.length;
    const { code, output } = await run(COMMAND, setup.start);
    expect([code, output.split("\n")[0]]).toEqual([0, "600 projects, 3 pages"]);
    expect(setup.service.emulator.requests.length - before).toBe(3);
    expectWhole(setup);
  });

  test("is whole after any number of kills", async () => {
    let program: Program | undefined;
    let answered = 0;
    await using setup = await setUp({
      // As an answer has gone out, the program is about to read it, write it, or vouch for it.
      onRequest: () => {
        answered += 1;
        if (answered % 2 === 0) program?.kill("SIGKILL");
      },
    });
    let kills = 0;
    for (;;) {
      program = new Program(COMMAND, setup.start);
      if ((await program.ended) !== "SIGKILL") break;
      kills += 1;
    }
    expect(kills).toBeGreaterThanOrEqual(2);
    expect(program.output).toContain("done: 1000 projects");
    expectWhole(setup);
  });
});

if (!hasTerminals) console.log(`Not tested on a terminal: ${WHY_NO_TERMINALS}.`);
