/** `project-automation emulator -- COMMAND`: the emulator around a program, as real processes. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { hasTerminals, onTerminal } from "../support/terminal.ts";
import { WatchedProcess } from "../support/watched-process.ts";

const BIN = join(import.meta.dirname, "../../src/bin.ts");
const NODE = process.execPath;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "emulator-around-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts the emulator with arguments, in a process group of its own. */
function emulator(args: readonly string[], env: Readonly<Record<string, string>> = {}): WatchedProcess {
  const started = new WatchedProcess([NODE, BIN, "emulator", ...args], {
    cwd: folder,
    detached: true,
    env: { ...process.env, ...env },
  });
  onTestFinished(async () => {
    if (started.hasEnded) return;
    console.error(`still running, after it said:\n${started.output}`);
    process.kill(-(started.child.pid ?? 0), "SIGKILL");
    await started.ended;
  });
  return started;
}

/** Starts the emulator around a program of Node. */
const around = (program: string, ...flags: readonly string[]): WatchedProcess =>
  emulator([...flags, "--", NODE, "--input-type=module", "--eval", program]);

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** A program that counts its signals, and ends with 9 at the first one of `last`. */
const counting = (last: NodeJS.Signals): string => `
  const counts = {};
  for (const signal of ${JSON.stringify(SIGNALS)}) {
    process.on(signal, () => {
      counts[signal] = (counts[signal] ?? 0) + 1;
      console.log(signal + " " + counts[signal] + ".");
      // What was sent before is there by then.
      if (signal === "${last}") setImmediate(() => console.log("counts: " + JSON.stringify(counts)) + process.exit(9));
    });
  }
  setInterval(() => undefined, 60_000);
  console.log("ready");`;

const countsOf = ({ stdout }: WatchedProcess): unknown => JSON.parse(/^counts: (.*?)\r?$/m.exec(stdout)?.[1] ?? "{}");

/** A program that asks for the projects, and says the status. */
const ASK = `
  const { PROJECT_AUTOMATION_BASE_URL: url, PROJECT_AUTOMATION_TOKEN: token } = process.env;
  const response = await fetch(url + "/projects", { headers: { authorization: "Bearer " + token } });
  console.log("answered", response.status);`;

describe("a command behind --", () => {
  test("has the two variables, and the emulator is there when it starts", async () => {
    const run = around(ASK);
    expect(await run.ended).toBe(0);
    expect(run.stdout).toBe("answered 200\n");
  });

  test("has standard output to itself; what the emulator says stands on standard error", async () => {
    const run = around(ASK);
    await run.ended;
    expect(run.stdout).toBe("answered 200\n");
    expect(run.stderr).toMatch(
      /^starting the emulator …\nPROJECT_AUTOMATION_BASE_URL=http:\S+\nPROJECT_AUTOMATION_TOKEN=emu_\S+\n/,
    );
    expect(run.stderr).toContain("\nprojects: web, api, docs\n");
    expect(run.stderr).toMatch(/ 200 GET \/api\/v1\/projects \d+ ms\n/);
  });

  test("gets its words as they are, also those that are flags of the emulator", async () => {
    const words = ["--port", "x", "--help", "--", "--version", "", "a b", '"$HOME"', "*"];
    const run = emulator(["--", NODE, "--eval", "console.log(JSON.stringify(process.argv.slice(1)))", "--", ...words]);
    expect(await run.ended).toBe(0);
    expect(JSON.parse(run.stdout)).toEqual(words);
  });
});

describe("a proxy of the environment", () => {
  const OWN = "127.0.0.1,localhost,::1,[::1]";
  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ["with no exceptions", { NO_PROXY: "", no_proxy: "" }, [OWN, OWN]],
    ["with exceptions, in capitals", { NO_PROXY: "a.example", no_proxy: "" }, [`a.example,${OWN}`, `a.example,${OWN}`]],
    ["with exceptions, each its own", { NO_PROXY: "a", no_proxy: "b" }, [`a,${OWN}`, `b,${OWN}`]],
    ["that is for no host", { NO_PROXY: "*", no_proxy: "" }, ["*", "*"]],
  ])("%s is for no request to this machine", async (_, env, expected) => {
    const program = "console.log(JSON.stringify([process.env.NO_PROXY, process.env.no_proxy]))";
    const run = emulator(["--", NODE, "--eval", program], env);
    expect(await run.ended).toBe(0);
    expect(JSON.parse(run.stdout)).toEqual(expected);
  });
});

describe("the exit code", () => {
  test.each([
    ["exit 0", 0],
    ["exit 3", 3],
    ["exit 255", 255],
    ["kill -TERM $$", 143],
    ["kill -KILL $$", 137],
  ])("of `%s` is the command's: %d", async (script, code) => {
    expect(await emulator(["--", "sh", "-c", script]).ended).toBe(code);
  });

  test.each<[string, () => string, number, string]>([
    ["a name that is nowhere", () => "no-such-program", 127, "not found; a program and its arguments stand behind --"],
    ["a path that leads nowhere", () => "./no/such", 127, "not found; a program"],
    ["words that were quoted as one", () => "node app.mjs", 127, "not found; a program"],
    [
      "a script of a program that is not there",
      () => fileOf("#!/no/such\n", 0o755),
      127,
      "the program in its first line is not found",
    ],
    ["a file that may not be executed", () => fileOf("#!/bin/sh\n", 0o644), 126, "it is a folder, or not executable"],
    ["a folder", () => folder, 126, "it is a folder, or not executable"],
    ["a path through a file", () => join(fileOf("", 0o644), "x"), 126, "ENOTDIR"],
  ])("of %s is the one of a shell, with a sentence, also with --stay", async (...[, name, code, sentence]) => {
    const command = name();
    const run = emulator(["--quiet", "--stay", "--", command, "secret-argument"]);
    expect(await run.ended).toBe(code);
    expect(run.stderr).toContain(`\nproject-automation emulator: cannot run "${command}": ${sentence}`);
    expect(run.stderr.trimEnd().split("\n")).toHaveLength(3);
    expect(run.output).not.toContain("secret-argument");
  });
});

function fileOf(text: string, mode: number): string {
  const file = join(folder, `script-${Math.random().toString(36).slice(2)}`);
  writeFileSync(file, text, { mode });
  return file;
}

describe.skipIf(process.platform === "win32")("a signal", () => {
  // Any other signal that is sent to the emulator alone, after the one that is counted.
  const lastFor = (signal: NodeJS.Signals): NodeJS.Signals => (signal === "SIGUSR2" ? "SIGUSR1" : "SIGUSR2");

  test.each(SIGNALS)("%s is passed on, and the command decides what becomes of it", async (signal) => {
    const last = lastFor(signal);
    const run = around(counting(last));
    await run.says(/^ready$/m);
    run.kill(signal);
    await run.says(new RegExp(`^${signal} 1\\.$`, "m"));
    run.kill(last);
    expect(await run.ended).toBe(9);
    expect(countsOf(run)).toEqual({ [signal]: 1, [last]: 1 });
  });

  test.runIf(hasTerminals)("of a terminal, such as Ctrl-C, is there once", async () => {
    const program = join(folder, "counting.mjs");
    writeFileSync(program, counting("SIGQUIT"));
    const run = new WatchedProcess(onTerminal([NODE, BIN, "emulator", "--", NODE, program]), { cwd: folder });
    await run.says(/^ready\r?$/m);
    run.type("\u0003");
    await run.says(/^.*SIGINT 1\.\r?$/m);
    run.type("\u001c");
    expect(await run.ended).toBe(9);
    expect(countsOf(run)).toEqual({ SIGINT: 1, SIGQUIT: 1 });
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const)(
    "%s that ends the command: 128 + n",
    async (signal) => {
      const code = 128 + constants.signals[signal];
      const run = around("console.log('ready'); setInterval(() => undefined, 60_000);");
      await run.says(/^ready$/m);
      run.kill(signal);
      expect(await run.ended).toBe(code);
    },
  );
});

describe("the streams", () => {
  test("standard input goes to the command, to its end", async () => {
    const text = "0123456789".repeat(300_000);
    const run = emulator(["--quiet", "--", "cat"]);
    run.child.stdin?.end(text);
    expect(await run.ended).toBe(0);
    expect(createHash("sha256").update(run.stdout).digest("hex")).toBe(createHash("sha256").update(text).digest("hex"));
  });

  test("a reader of standard output that has gone ends the command, as without the emulator", async () => {
    const run = emulator(["--quiet", "--", "sh", "-c", "while :; do echo more; done"]);
    await run.says(/^more$/m);
    run.child.stdout?.destroy();
    expect(await run.ended).toBe(141);
  });
});

describe("the end", () => {
  test("comes with the command, also if it leaves a process behind", async () => {
    const run = emulator(["--quiet", "--", "sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"]);
    expect(await run.ended).toBe(0);
    process.kill(Number(run.stdout));
  });
});

describe("--stay", () => {
  const addressOf = ({ stderr }: WatchedProcess): string => /BASE_URL=(\S+)/.exec(stderr)?.[1] ?? "";

  test("goes on when the command has ended, and has its exit code when it is ended", async () => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const run = emulator(["--stay", "--", "sh", "-c", "exit 3"]);
      await run.says(/^the command ended with 3; Ctrl-C ends the emulator$/m);
      expect((await fetch(addressOf(run))).status).toBe(401);
      run.kill(signal);
      expect(await run.ended).toBe(3);
    }
  });

  test.skipIf(process.platform === "win32")("SIGINT ends the command first, then the emulator", async () => {
    const run = emulator(["--stay", "--", "sh", "-c", "echo ready; exec sleep 1000"]);
    await run.says(/^ready$/m);
    run.kill("SIGINT");
    await run.says(/^the command ended with 130;/m);
    expect((await fetch(addressOf(run))).status).toBe(401);
    run.kill("SIGINT");
    expect(await run.ended).toBe(130);
  });

  test.skipIf(process.platform === "win32").each(["SIGTERM", "SIGHUP"] as const)(
    "%s while the command runs ends both",
    async (signal) => {
      const run = around(counting(signal), "--stay");
      await run.says(/^ready$/m);
      run.kill(signal);
      expect(await run.ended).toBe(9);
    },
  );
});

describe("a mistake", () => {
  test.each<[string, readonly string[], string]>([
    ["nothing behind --", ["--"], "no command stands behind --; write it there, as in: -- node app.mjs"],
    ["an empty word behind --", ["--", "", "x"], "no command stands behind --"],
    [
      "a command without --",
      ["true"],
      'takes flags only; write -- before a command; in PowerShell write "--", and in place of npm exec use npx',
    ],
    ["--stay without a command", ["--stay"], "--stay needs a command: --stay -- node app.mjs"],
    ["a flag that has no value in front of --", ["--port", "--", "true"], "--port needs a value: --port N"],
    ["an unknown flag in front of --", ["--prot", "1", "--", "true"], "unknown flag --prot"],
  ])("%s: one line, exit code 2, and nothing is run or written", async (_, args, message) => {
    const run = emulator(args);
    expect(await run.ended).toBe(2);
    expect(run.output).toMatch(/^project-automation emulator: .*\n$/);
    expect(run.output).toContain(message);
    expect(existsSync(join(folder, ".env"))).toBe(false);
  });
});

describe.skipIf(process.platform === "win32")("on Windows", () => {
  /** What the platform is called, to all that ask for it. */
  const AS_WINDOWS = `data:text/javascript,Object.defineProperty(process,"platform",{value:"win32"})`;
  const windows = (...words: readonly string[]): WatchedProcess => {
    const path = join(folder, "windows");
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "npm.CMD"), "");
    writeFileSync(join(path, "cmd.exe"), '#!/bin/sh\nprintf "%s\\n" "$@"\nexit 5\n', { mode: 0o755 });
    const run = new WatchedProcess([NODE, "--import", AS_WINDOWS, BIN, "emulator", "--quiet", "--", ...words], {
      env: { ...process.env, PATH: path, PATHEXT: ".EXE:.CMD" },
    });
    return run;
  };

  test("a script such as npm.cmd is run by cmd.exe, with its words quoted", async () => {
    const run = windows("npm", "run", "a b", "100%", 'say "hi" & exit');
    expect(await run.ended).toBe(5);
    expect(run.stdout.split("\n").slice(0, 3)).toEqual(["/d", "/s", "/c"]);
    expect(run.stdout).toContain('"npm ^"run^" ^"a^ b^" ^"100^%^" ^"say^ \\^"hi\\^"^ ^&^ exit^""');
  });
});
