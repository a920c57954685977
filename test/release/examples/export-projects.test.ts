import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningEmulator, type StartOptions, startEmulator } from "project-automation/testing/node";
import { describe, expect, test } from "vitest";
import { NEEDS_ALL } from "../../support/all-tests.ts";
import { hasTerminals, Program, run, type Start, temporaryFolder, WHY_NO_TERMINALS } from "./program.ts";

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

const cursors = ({ service }: Setup): (string | undefined)[] =>
  service.emulator.requests.map(({ query }) => query["cursor"]);

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

  test("what a kill left behind the checkpoint is written anew", async () => {
    await using setup = await setUp();
    const silence = setup.service.emulator.fault({ skip: 2, delayMs: Number.POSITIVE_INFINITY });
    const program = new Program(COMMAND, setup.start);
    await program.says(/400 projects/);
    program.kill("SIGKILL");
    expect(await program.ended).toBe("SIGKILL");
    silence.remove();

    appendFileSync(setup.file, '{"id":"prj_half'); // a page whose writing was cut short
    expect(await run(COMMAND, setup.start)).toMatchObject({ code: 0 });
    expectWhole(setup);
    expect(new Set(cursors(setup)).size).toBe(5);
  });

  test("touches no export that is whole, and none that its checkpoint does not fit", async () => {
    await using setup = await setUp();
    writeFileSync(setup.file, "precious");
    const whole = await run(COMMAND, setup.start);
    expect(whole).toEqual({ code: 1, output: "out.ndjson is there already, and whole; name another file\n" });
    writeFileSync(`${setup.file}.checkpoint`, JSON.stringify({ cursor: "c", bytes: 9, pages: 1, items: 1 }));
    const short = await run(COMMAND, setup.start);
    expect(short).toMatchObject({ code: 1, output: expect.stringContaining("shorter than its checkpoint") });
    expect(readFileSync(setup.file, "utf8")).toBe("precious");
    expect(setup.service.emulator.requests).toEqual([]);
  });

  test("reports what it needs, and the errors of the service", async () => {
    await using setup = await setUp();
    expect(await run(["export-projects.ts"], setup.start)).toMatchObject({ code: 2 });
    const refused = await run(COMMAND, { ...setup.start, env: { PROJECT_AUTOMATION_TOKEN: "emu_wrong_secret" } });
    expect(refused).toEqual({
      code: 1,
      output: "projects.list: 401 unauthorized: the token is unknown (request req_1)\n",
    });
  });
});

if (!hasTerminals) console.log(`Not tested on a terminal: ${WHY_NO_TERMINALS}.`);

describe.runIf(hasTerminals || (process.platform === "linux" && NEEDS_ALL))(
  "export-projects, on a terminal",
  { concurrent: true },
  () => {
    test("shows one line, which counts down while the rate limit pauses", async () => {
      await using setup = await setUp();
      setup.service.emulator.fault({ skip: 2, status: 429, headers: { "retry-after": "2" } });
      const program = new Program(COMMAND, { ...setup.start, onTerminal: true });
      expect(await program.ended).toBe(0);
      const drawn = program.output.split("\r\u001b[K");
      expect(drawn.slice(0, -1).join("")).not.toContain("\n"); // one line, drawn over and over
      expect(drawn.at(-1)).toMatch(/^done: 1000 projects in out\.ndjson, after [2-9] s of waiting\r\n$/);
      const shown = drawn.filter((line, index) => line !== drawn[index - 1]).map((line) => line.split("in ")[1]);
      expect(shown.filter((rest) => rest?.endsWith(" s")).slice(-2)).toEqual(["2 s", "1 s"]);
      expectWhole(setup);
    });

    test("Ctrl-C in a pause ends it at once, and the next run continues", async () => {
      await using setup = await setUp();
      const pause = setup.service.emulator.fault({ skip: 3, times: 1, status: 429, headers: { "retry-after": "60" } });
      const program = new Program(COMMAND, { ...setup.start, onTerminal: true });
      await program.says(/600 projects, 3 pages; rate limit: going on in \d\d s/);
      program.type("\u0003");
      expect(await program.ended).toBe(130);
      expect(program.output).toContain("stopped after 600 projects");
      expect(pause.hits).toBe(1);
      expect(await run(COMMAND, setup.start)).toMatchObject({ code: 0 });
      expectWhole(setup);
    });
  },
);
