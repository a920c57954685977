import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningEmulator, startEmulator } from "project-automation/testing/node";
import { describe, expect, test } from "vitest";
import { CLOSED_PORT } from "../../support/raw-server.ts";
import { run, temporaryFolder } from "./program.ts";

interface Stored {
  readonly id: string;
  readonly plaintext: string;
  readonly expires_at: string;
}

const SECRET = /emu_\w+_\w+/;
const MASK = "::add-mask::";

/** What a runner shows of an output: the lines that mask a secret are not shown, and no line after them has that secret. */
function shownInLog(output: string): string {
  const masked: string[] = [];
  const shown: string[] = [];
  for (const line of output.split("\n")) {
    if (line.startsWith(MASK)) masked.push(line.slice(MASK.length));
    else shown.push(masked.reduce((text, secret) => text.replaceAll(secret, "***"), line));
  }
  return shown.join("\n");
}

interface Setup extends AsyncDisposable {
  readonly service: RunningEmulator;
  readonly file: string;
  readonly stored: () => Stored;
  readonly create: (env?: Record<string, string>) => ReturnType<typeof run>;
  readonly rotate: (env?: Record<string, string>) => ReturnType<typeof run>;
  readonly work: (env?: Record<string, string>) => ReturnType<typeof run>;
  readonly rotations: () => number;
}

/** A job's token, in its file. */
async function setUp(): Promise<Setup> {
  const folder = temporaryFolder();
  const service = await startEmulator({ projects: 2 });
  const file = join(folder.path, "token.json");
  const command = async (name: string, env: Record<string, string> = {}): ReturnType<typeof run> => {
    const ran = await run(["rotate-token-in-ci.ts", name, "token.json"], { service, folder: folder.path, env });
    expect(shownInLog(ran.output)).not.toMatch(SECRET);
    return ran;
  };
  expect(await command("create")).toEqual({ code: 0, output: "stored the new token in token.json\n" });
  return {
    service,
    file,
    stored: () => JSON.parse(readFileSync(file, "utf8")) as Stored,
    create: (env) => command("create", env),
    rotate: (env) => command("rotate", env),
    work: (env) => command("work", env),
    rotations: () => service.emulator.requests.filter(({ operation }) => operation === "tokens.rotate").length,
    [Symbol.asyncDispose]: async () => {
      await service.close();
      folder[Symbol.dispose]();
    },
  };
}

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);

describe.concurrent("rotate-token-in-ci", () => {
  test("stores the new token, readable by its owner alone, passes it to STORE_COMMAND, and goes on with it", async () => {
    await using setup = await setUp();
    const first = setup.stored();
    const { code, output } = await setup.rotate({ STORE_COMMAND: "cat > store.json" });
    expect({ code, output }).toEqual({ code: 0, output: "stored the new token in token.json\n2 projects\n" });
    const second = setup.stored();
    expect(second).toEqual(JSON.parse(readFileSync(setup.file.replace("token", "store"), "utf8")));
    expect(setup.service.emulator.tokens.get(first.id)?.state).toBe("revoked");
    expect(setup.service.emulator.tokens.get(second.id)?.state).toBe("active");
    expect([modeOf(setup.file), existsSync(`${setup.file}.new`)]).toEqual(["600", false]);
  });

  test.each(["rotate", "work"] as const)(
    "%s masks each secret on GitHub Actions before it prints anything",
    async (name) => {
      await using setup = await setUp();
      const first = { ...setup.stored(), expires_at: new Date(Date.now() + 3_600_000).toISOString() };
      writeFileSync(setup.file, JSON.stringify(first));
      // A store that prints the record into the log, on the stream that is shown.
      const { code, output } = await setup[name]({ GITHUB_ACTIONS: "true", STORE_COMMAND: "cat >&2" });
      const [old, next, ...rest] = output.split("\n");
      expect([code, old, next]).toEqual([0, `${MASK}${first.plaintext}`, `${MASK}${setup.stored().plaintext}`]);
      expect(rest.join("\n")).toContain(setup.stored().plaintext);
      expect(shownInLog(output)).toContain('"plaintext":"***"');
    },
  );

  test("a STORE_COMMAND that fails does not lose the new token", async () => {
    await using setup = await setUp();
    const { code, output } = await setup.rotate({ STORE_COMMAND: "exit 3" });
    expect([code, output]).toEqual([
      1,
      expect.stringContaining("STORE_COMMAND failed: the new token is in token.json"),
    ]);
    expect(setup.service.emulator.tokens.get(setup.stored().id)?.state).toBe("active");
  });

  test("the file of an interrupted run is not overwritten, and nothing is sent", async () => {
    await using setup = await setUp();
    writeFileSync(`${setup.file}.new`, "perhaps the only copy");
    const text = "no token was requested, nothing has changed: look for a new token in token.json.new";
    expect(await setup.rotate()).toMatchObject({ code: 1, output: expect.stringContaining(text) });
    expect(await setup.work()).toMatchObject({ code: 1, output: expect.stringContaining("token.json.new") });
    expect(setup.rotations()).toBe(0);
    expect(readFileSync(`${setup.file}.new`, "utf8")).toBe("perhaps the only copy");
  });

  test("a token that cannot be stored is named, with the place where it is", async () => {
    await using setup = await setUp();
    const before = setup.stored();
    rmSync(setup.file);
    mkdirSync(setup.file); // no file can be renamed to it
    const { code, output } = await setup.create();
    expect([code, output]).toEqual([1, expect.stringContaining("the new token is not in token.json; look for it in")]);
    const { id } = JSON.parse(readFileSync(`${setup.file}.new`, "utf8")) as Stored;
    expect(id).not.toBe(before.id);
    expect(setup.service.emulator.tokens.get(id)?.state).toBe("active");
  });

  test.each([
    ["rejected", { status: 409 }],
    ["not_sent", undefined],
  ])("outcome %s: the token is still valid", async (outcome, fault) => {
    await using setup = await setUp();
    const before = setup.stored();
    if (fault !== undefined) setup.service.emulator.fault(fault);
    const env = fault === undefined ? { PROJECT_AUTOMATION_BASE_URL: `http://127.0.0.1:${CLOSED_PORT}/api/v1` } : {};
    const { code, output } = await setup.rotate(env);
    expect([code, output]).toEqual([1, expect.stringContaining(`outcome ${outcome}: nothing has changed`)]);
    expect(setup.stored()).toEqual(before);
    expect(await setup.rotate()).toMatchObject({ code: 0 });
  });

  test("outcome accepted: the text of the response is stored, readable by its owner alone", async () => {
    await using setup = await setUp();
    setup.service.emulator.fault({ operation: "tokens.rotate", transform: ({ id: _, ...rest }) => rest });
    const { code, output } = await setup.rotate();
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/outcome accepted: the old token is revoked.* in token\.json\.raw/),
    ]);
    const { plaintext } = JSON.parse(readFileSync(`${setup.file}.raw`, "utf8")) as Stored;
    expect(modeOf(`${setup.file}.raw`)).toBe("600");
    expect(
      setup.service.emulator.tokens
        .list()
        .some(({ state, key_id }) => state === "active" && plaintext.includes(key_id)),
    ).toBe(true);
  });

  test("outcome unknown: the next run finds out which it was", async () => {
    await using setup = await setUp();
    setup.service.emulator.fault({ operation: "tokens.rotate", status: 502 });
    const alive = await setup.rotate();
    expect([alive.code, alive.output]).toEqual([
      1,
      expect.stringContaining("outcome unknown: the old token may be revoked"),
    ]);
    expect(await setup.rotate()).toMatchObject({ code: 0 });

    setup.service.emulator.fault({ operation: "tokens.rotate", drop: "after" });
    const dead = await setup.rotate();
    expect([dead.code, dead.output]).toEqual([
      1,
      expect.stringContaining("outcome unknown: the old token may be revoked"),
    ]);
    expect(await setup.rotate()).toMatchObject({
      code: 1,
      output: expect.stringContaining("the token is not valid any more; create a new one"),
    });
    expect(setup.rotations()).toBe(4);
  });

  test("the token of a job rotates itself when it gets old, not before, and is stored before it is used", async () => {
    await using setup = await setUp();
    expect(await setup.work()).toEqual({ code: 0, output: "2 projects\n" });
    const old = { ...setup.stored(), expires_at: new Date(Date.now() + 3_600_000).toISOString() };
    writeFileSync(setup.file, JSON.stringify(old));
    expect(await setup.work()).toEqual({ code: 0, output: "stored the new token in token.json\n2 projects\n" });
    expect(setup.stored().id).not.toBe(old.id);
    expect([modeOf(setup.file), setup.rotations()]).toEqual(["600", 1]);
    expect(await setup.work()).toMatchObject({ code: 0 });
  });
});
