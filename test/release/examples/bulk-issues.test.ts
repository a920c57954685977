import { appendFileSync, copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningEmulator, type StartOptions, startEmulator } from "project-automation/testing/node";
import { describe, expect, test } from "vitest";
import { Program, run, type Start, temporaryFolder } from "./program.ts";

const COMMAND = ["bulk-issues.ts", "issues.json"];

interface Setup extends AsyncDisposable {
  readonly service: RunningEmulator;
  readonly start: Start;
  readonly file: string;
  /** The titles of the issues that were asked for, each as often as that, and of those that there are. */
  readonly asked: () => string[];
  readonly created: () => string[];
}

async function setUp(titles: readonly string[], options: StartOptions = {}): Promise<Setup> {
  const folder = temporaryFolder();
  const service = await startEmulator({ projects: [{ name: "web" }], ...options });
  const file = join(folder.path, "issues.json");
  writeFileSync(file, JSON.stringify(titles.map((title) => ({ project: "web", title, type: "bug" }))));
  return {
    service,
    file,
    start: { service, folder: folder.path },
    asked: () =>
      service.emulator.requests.flatMap(({ method, body }) => (method === "POST" ? (body as Titled).title : [])).sort(),
    created: () =>
      service.emulator.issues
        .list("web")
        .map(({ title }) => title)
        .sort(),
    [Symbol.asyncDispose]: async () => {
      await service.close();
      folder[Symbol.dispose]();
    },
  };
}

type Titled = { readonly title: string };
const WRITE = { operation: "issues.create" } as const;
const titled = (title: string) => ({
  ...WRITE,
  match: ({ body }: { body: unknown }) => (body as Titled).title === title,
});
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `issue ${index + 10}`);

const createdNow = (output: string): number => Number(/^created in this run: (\d+)\s*$/m.exec(output)?.[1]);

function counts(output: string): Record<string, number> {
  const lines = output.matchAll(/^(created|refused|not sent|unknown).*?: (\d+)\s*$/gm);
  return Object.fromEntries([...lines].map(([, name = "", count]) => [name, Number(count)]));
}

const keyOf = (title: string): string => JSON.stringify(["web", title, "bug"]);

describe.concurrent("bulk-issues", () => {
  test("reports what came of each, and a second run sends only what was certainly not created", async () => {
    await using setup = await setUp(["fine", "refused", "lost", "never came", "garbled"]);
    const { emulator } = setup.service;
    emulator.fault({ ...titled("refused"), status: 409, times: Number.POSITIVE_INFINITY });
    emulator.fault({ ...titled("lost"), drop: "after" });
    emulator.fault({ ...titled("never came"), status: 500 });
    emulator.fault({ ...titled("garbled"), status: 201, apply: true, body: "<html>" });

    const first = await run(COMMAND, setup.start);
    expect([first.code, counts(first.output)]).toEqual([1, { created: 1, refused: 1, "not sent": 0, unknown: 3 }]);
    expect(createdNow(first.output)).toBe(1);
    expect(first.output).toMatch(/"refused","bug"\]: conflict 409: /);
    expect(first.output).toMatch(/"lost","bug"\]: connection: /);
    expect(first.output).toMatch(/^1 of 5, 1 refused, [\d.]+\/s$/m);

    const second = await run(COMMAND, setup.start);
    expect([second.code, counts(second.output)]).toEqual([1, { created: 1, refused: 1, "not sent": 0, unknown: 3 }]);
    expect(createdNow(second.output)).toBe(0);
    // The reasons are those of the first run.
    expect(second.output).toMatch(/"lost","bug"\]: connection: /);
    expect(second.output).toMatch(/"never came","bug"\]: server 500: /);
    expect(setup.asked()).toEqual(["fine", "garbled", "lost", "never came", "refused", "refused"]);

    // Somebody has looked.
    const found = ["--applied", keyOf("lost"), "--applied", keyOf("garbled"), "--not-applied", keyOf("never came")];
    const third = await run([...COMMAND, ...found], setup.start);
    expect(counts(third.output)).toEqual({ created: 4, refused: 1, "not sent": 0, unknown: 0 });
    expect(createdNow(third.output)).toBe(1);
    expect(setup.created()).toEqual(["fine", "garbled", "lost", "never came"]);
  });

  test("waits the rate limit out and counts the seconds, with so many at once and no more", async () => {
    await using setup = await setUp(many(30));
    const { emulator } = setup.service;
    emulator.fault({ skip: 20, status: 429, headers: { "retry-after": "1" } });
    const { code, output } = await run(COMMAND, setup.start);
    expect(output).toMatch(/, rate limit: waiting [12] s$/m);
    expect([code, counts(output)]).toEqual([0, { created: 30, refused: 0, "not sent": 0, unknown: 0 }]);
    expect(setup.created()).toEqual(many(30));
    expect(Math.max(...emulator.requests.map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(7); // besides the one that came
  });

  test("creates the issues of its own file in the world of an emulator, once", async () => {
    using folder = temporaryFolder();
    const service = await startEmulator();
    try {
      copyFileSync(join(import.meta.dirname, "../../../examples/issues.csv"), join(folder.path, "issues.csv"));
      const start = { service, folder: folder.path };
      const command = ["bulk-issues.ts", "issues.csv"];
      expect(counts((await run(command, start)).output)).toEqual({ created: 8, refused: 0, "not sent": 0, unknown: 0 });
      const again = await run(command, start);
      expect([again.code, counts(again.output)]).toMatchObject([0, { created: 8 }]);
      expect(service.emulator.requests.filter(({ method }) => method === "POST")).toHaveLength(8);
    } finally {
      await service.close();
    }
  });

  test("a project that is misspelt stops it, and the corrected file is sent whole", async () => {
    await using setup = await setUp(many(30));
    const rows = JSON.stringify(many(30).map((title) => ({ id: title, project: "wbe", title, type: "bug" })));
    writeFileSync(setup.file, rows);
    const { code, output } = await run(COMMAND, setup.start);
    expect([code, counts(output)]).toEqual([1, { created: 0, refused: 0, "not sent": 30, unknown: 0 }]);
    expect(output).toMatch(/ Stopped after 10 failures /);
    writeFileSync(setup.file, rows.replaceAll("wbe", "web"));
    expect(await run(COMMAND, setup.start)).toMatchObject({ code: 0 });
    expect(setup.created()).toEqual(many(30));
  });

  test("Ctrl-C ends it with 130 and a report; what was in flight is unknown, the rest is sent by the next run", async ({
    expect,
  }) => {
    await using setup = await setUp(many(20));
    const { emulator } = setup.service;
    const silence = emulator.fault({
      ...WRITE,
      skip: 10,
      times: Number.POSITIVE_INFINITY,
      delayMs: Number.POSITIVE_INFINITY,
    });
    const program = new Program(COMMAND, setup.start);
    await expect.poll(() => silence.hits).toBe(8);
    program.kill("SIGINT");
    expect(await program.ended).toBe(130);
    expect(counts(program.output)).toEqual({ created: 10, refused: 0, "not sent": 2, unknown: 8 });

    silence.remove();
    const { code, output } = await run(COMMAND, setup.start);
    expect([code, counts(output)]).toEqual([1, { created: 12, refused: 0, "not sent": 0, unknown: 8 }]);
    expect(setup.asked()).toEqual(many(20));
  });

  test("goes on after each kill -9, also where the journal's last line is cut short", async ({ expect }) => {
    await using setup = await setUp(many(20));
    const { emulator } = setup.service;
    const silence = emulator.fault({
      ...WRITE,
      skip: 10,
      times: Number.POSITIVE_INFINITY,
      delayMs: Number.POSITIVE_INFINITY,
    });
    for (const hits of [8, 10]) {
      const program = new Program(COMMAND, setup.start);
      await expect.poll(() => silence.hits).toBe(hits);
      program.kill("SIGKILL");
      expect(await program.ended).toBe("SIGKILL");
      appendFileSync(`${setup.file}.journal`, '0a1b2c3d [{"key":');
    }

    silence.remove();
    const { code, output } = await run(COMMAND, setup.start);
    expect([code, counts(output)]).toEqual([1, { created: 10, refused: 0, "not sent": 0, unknown: 10 }]);
    expect(output.match(/: interrupted: /g)).toHaveLength(10);
    expect(setup.asked()).toEqual(many(20));
  });

  test("a 401 ends it, and the next run sends all", async () => {
    await using setup = await setUp(many(50));
    const { code, output } = await run(COMMAND, { ...setup.start, env: { PROJECT_AUTOMATION_TOKEN: "emu_a_b" } });
    expect([code, counts(output)]).toEqual([1, { created: 0, refused: 0, "not sent": 50, unknown: 0 }]);
    expect(output).toMatch(/ Stopped: issues\.create: 401/);
    expect(setup.service.emulator.requests.length).toBeLessThanOrEqual(9); // the read and eight writes
  });

  test("a second program on the same file ends at once", async ({ expect }) => {
    await using setup = await setUp(many(3));
    const silence = setup.service.emulator.fault({ delayMs: Number.POSITIVE_INFINITY });
    const program = new Program(COMMAND, setup.start);
    await expect.poll(() => silence.hits).toBe(1);
    expect(await run(COMMAND, setup.start)).toEqual({ code: 2, output: expect.stringContaining("another run uses") });
    program.kill("SIGKILL");
    await program.ended;
  });
});
