import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningEmulator, type StartOptions, startEmulator } from "project-automation/testing/node";
import { describe, expect, test } from "vitest";
import { Program, run, type Start, temporaryFolder } from "./program.ts";

const ISSUE = '{"project":"web","title":"a","type":"bug"}';
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
    asked: () => service.emulator.requests.map(({ body }) => (body as { title: string }).title).sort(),
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

const titled = (title: string) => ({
  match: ({ body }: { body: unknown }) => (body as { title: string }).title === title,
});
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `issue ${index + 10}`);

function counts(output: string): Record<string, number> {
  const lines = output.matchAll(/^(created|refused|not sent|unknown).*: (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, name = "", count]) => [name, Number(count)]));
}

describe.concurrent("bulk-issues", { timeout: 30_000 }, () => {
  test("reports what became of each, and a second run sends only what was certainly not applied", async () => {
    await using setup = await setUp(["fine", "refused", "lost", "never came", "garbled"]);
    const { emulator } = setup.service;
    emulator.fault({ ...titled("refused"), status: 409 });
    emulator.fault({ ...titled("lost"), drop: "after" });
    emulator.fault({ ...titled("never came"), status: 500 });
    emulator.fault({ ...titled("garbled"), status: 201, apply: true, body: "<html>" });

    const first = await run(COMMAND, setup.start);
    expect(first.code).toBe(1);
    expect(counts(first.output)).toEqual({ created: 2, refused: 1, "not sent": 0, unknown: 2 });
    expect(first.output).toContain('web: "refused": issues.create: 409 conflict');
    expect(first.output).toContain("unknown (may have been applied: check before sending again): 2");
    expect(first.output).toMatch(/web: "lost": .*connection was lost/);

    const second = await run(COMMAND, setup.start);
    expect(second.code).toBe(1);
    expect(counts(second.output)).toEqual({ created: 3, refused: 0, "not sent": 0, unknown: 2 });
    expect(setup.asked()).toEqual(["fine", "garbled", "lost", "never came", "refused", "refused"]);

    // Somebody has looked: "never came" is not there, and its lines are deleted.
    const journal = `${setup.file}.journal`;
    const lines = readFileSync(journal, "utf8").split("\n");
    writeFileSync(journal, lines.filter((line) => !line.includes("never came")).join("\n"));
    expect(counts((await run(COMMAND, setup.start)).output)).toMatchObject({ created: 4, unknown: 1 });
    expect(setup.created()).toEqual(["fine", "garbled", "lost", "never came", "refused"]);
  });

  test("waits the rate limit out, with so many at once and no more", async () => {
    await using setup = await setUp(many(30));
    const { emulator } = setup.service;
    emulator.fault({ skip: 20, status: 429, headers: { "retry-after": "1" } });
    const { code, output } = await run(COMMAND, setup.start);
    expect(output).toMatch(/^rate limit: waiting [12] s$/m);
    expect([code, counts(output)]).toEqual([0, { created: 30, refused: 0, "not sent": 0, unknown: 0 }]);
    expect(setup.created()).toEqual(many(30));
    expect(Math.max(...emulator.requests.map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(7); // besides the one that came
  });

  test("Ctrl-C ends it with 130 and a report; what was on its way is unknown, the rest is sent by the next run", async ({
    expect,
  }) => {
    await using setup = await setUp(many(20));
    const { emulator } = setup.service;
    const silence = emulator.fault({ skip: 10, times: Number.POSITIVE_INFINITY, delayMs: Number.POSITIVE_INFINITY });
    const program = new Program(COMMAND, setup.start);
    await expect.poll(() => silence.hits, { interval: 5, timeout: 10_000 }).toBe(8);
    program.kill("SIGINT");
    expect(await program.ended).toBe(130);
    expect(counts(program.output)).toEqual({ created: 10, refused: 0, "not sent": 2, unknown: 8 });

    silence.remove();
    const { code, output } = await run(COMMAND, setup.start);
    expect([code, counts(output)]).toEqual([1, { created: 12, refused: 0, "not sent": 0, unknown: 8 }]);
    expect(setup.asked()).toEqual(many(20));
  });

  test("after each kill -9 too: what was on its way is unknown, also where the journal's last line is cut short", async ({
    expect,
  }) => {
    await using setup = await setUp(many(20));
    const { emulator } = setup.service;
    const silence = emulator.fault({ skip: 10, times: Number.POSITIVE_INFINITY, delayMs: Number.POSITIVE_INFINITY });
    for (const hits of [8, 10]) {
      const program = new Program(COMMAND, setup.start);
      await expect.poll(() => silence.hits, { interval: 5, timeout: 10_000 }).toBe(hits);
      program.kill("SIGKILL");
      expect(await program.ended).toBe("SIGKILL");
      appendFileSync(`${setup.file}.journal`, '\n{"project":"web","ti');
    }

    silence.remove();
    const { code, output } = await run(COMMAND, setup.start);
    expect([code, counts(output)]).toEqual([1, { created: 10, refused: 0, "not sent": 0, unknown: 10 }]);
    expect(output.match(/the run was cut off/g)).toHaveLength(10);
    expect(setup.asked()).toEqual(many(20));
  });

  test("a service that is not there has got nothing: all is sent by the next run", async () => {
    await using setup = await setUp(many(3));
    const env = { PROJECT_AUTOMATION_BASE_URL: "http://127.0.0.1:9/api/v1" }; // the discard port: nobody listens
    const { code, output } = await run(COMMAND, { ...setup.start, env });
    expect([code, counts(output)]).toEqual([1, { created: 0, refused: 0, "not sent": 3, unknown: 0 }]);
    expect(await run(COMMAND, setup.start)).toMatchObject({ code: 0 });
    expect(setup.created()).toEqual(many(3));
  });

  test("a token that is dead ends it, instead of a refusal for each", async () => {
    await using setup = await setUp(many(50));
    const { code, output } = await run(COMMAND, { ...setup.start, env: { PROJECT_AUTOMATION_TOKEN: "emu_a_b" } });
    expect(code).toBe(1);
    expect(counts(output)).toMatchObject({ created: 0, unknown: 0 });
    expect(setup.service.emulator.requests.length).toBeLessThanOrEqual(8);
  });

  test.each([
    ["no JSON", "[1", /issues\.json: .*JSON/],
    ["no type", '[{"project":"web","title":"a"}]', /item 1 needs project, title and type/],
    ["twice the same", `${ISSUE}\n\n${ISSUE}\n`, /there twice/],
  ])("refuses a file that is none: %s", async (_, content, message) => {
    await using setup = await setUp([]);
    writeFileSync(setup.file, content);
    expect(await run(COMMAND, setup.start)).toEqual({ code: 2, output: expect.stringMatching(message) });
    expect(setup.service.emulator.requests).toEqual([]);
  });
});
