import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../../src/client/version.ts";
import { COMMANDS, HELP } from "../../../src/commands.ts";

interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const BIN = join(import.meta.dirname, "../../../src/bin.ts");

/** Runs the program in a process of its own. */
function run(argv: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Printed> {
  const env = { ...process.env, ...environment };
  return new Promise((resolve) => {
    execFile(process.execPath, [BIN, ...argv], { env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

const NAMES = Object.keys(COMMANDS);

describe("project-automation", () => {
  test("--help lists the commands, and each has a help of its own", async () => {
    for (const flag of ["--help", "-h"]) expect(await run([flag])).toEqual({ code: 0, out: HELP, err: "" });
    for (const name of NAMES) {
      expect(HELP).toMatch(new RegExp(`^  ${name} +[a-z]`, "m"));
      const { code, out, err } = await run([name, "--help"]);
      expect([code, err]).toEqual([0, ""]);
      expect((await run([name, "-h"])).out).toBe(out);
      expect(out).toMatch(new RegExp(`^Usage: project-automation ${name} \\[flags\\]\n`));
      expect(out).toMatch(/^ {2}--version +print the version$/m);
    }
  });

  test("--version says the version, also of each command", async () => {
    for (const argv of [["--version"], ...NAMES.map((name) => [name, "--version"])]) {
      expect(await run(argv)).toEqual({ code: 0, out: `${VERSION}\n`, err: "" });
    }
  });

  const WORDS = `the first word must be one of ${NAMES.join(", ")}, --help, --version`;
  test.each<[string, readonly string[], string]>([
    ["no command", [], WORDS],
    ["a misspelt command", ["emulater"], `${WORDS}, not "emulater"; did you mean emulator?`],
    ["an unknown command", ["serve"], `${WORDS}, not "serve"`],
    ["a name that every object has", ["constructor"], `${WORDS}, not "constructor"`],
    ["a flag before the command", ["--port", "80", "emulator"], `${WORDS}, not "--port"`],
  ])("%s: one line, and exit code 2", async (_, argv, message) => {
    expect(await run(argv)).toEqual({ code: 2, out: "", err: `project-automation: ${message}\n` });
  });

  test("an unknown flag of each command: one line that names it, and exit code 2", async () => {
    for (const name of NAMES) {
      const { code, out, err } = await run([name, "--hepl"]);
      expect([code, out]).toEqual([2, ""]);
      expect(err).toBe(`project-automation ${name}: unknown flag --hepl; did you mean --help?; see --help\n`);
    }
  });

  test("a mistake never shows the token of the environment", async () => {
    const token = "pat_0123456789abcdef_averysecretsecret";
    const environment = { PROJECT_AUTOMATION_TOKEN: token };
    for (const argv of [[token], ["emulator", token], ["emulator", `--${token}`], ["emulator", "--port", token]]) {
      const { code, err } = await run(argv, environment);
      expect(code).toBe(2);
      expect(err).not.toContain("averysecret");
    }
  });
});
