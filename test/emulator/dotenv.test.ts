/** `project-automation emulator --dotenv FILE`: two variables in a file that may be the user's. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseEnv } from "node:util";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { withVariables } from "../../src/emulator/node/dotenv.ts";
import { factsOf, NO_REGULAR_FILES } from "../support/files.ts";
import { run, started, stopped } from "./run-command.ts";

const URL_NAME = "PROJECT_AUTOMATION_BASE_URL";
const TOKEN_NAME = "PROJECT_AUTOMATION_TOKEN";
const REAL_URL = "https://automation.example.com/api/v1";
const REAL_TOKEN = "pat_93jd82hf_0123456789abcdef";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dotenv-"));
  file = join(folder, ".env");
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Runs the emulator with the file, and returns what it printed: the two lines. */
async function write(): Promise<string> {
  const running = await started("--quiet", "--dotenv", file);
  expect(running.err()).toBe("");
  await stopped(running);
  return running.out();
}

/** Runs the emulator, and returns its one line: it has ended before it printed anything else. */
async function refusal(): Promise<string> {
  const failed = run("--port", "0", "--dotenv", file);
  expect([await failed.code, failed.out()]).toEqual([1, ""]);
  expect(failed.err().match(/\n/g)).toHaveLength(1);
  return failed.err();
}

describe("a file without the two variables gets them at its end", () => {
  test("a new one is its owner's alone, and node --env-file reads it", async () => {
    const lines = await write();
    expect(readFileSync(file, "utf8")).toBe(lines);
    expect(lines).toMatch(/^PROJECT_AUTOMATION_BASE_URL=http:\S+\nPROJECT_AUTOMATION_TOKEN=emu_\S+\n$/);
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    const flags = [`--env-file=${file}`, "--eval", `process.stdout.write(process.env.${TOKEN_NAME})`];
    expect(lines).toContain(`=${execFileSync(process.execPath, flags, { encoding: "utf8" })}\n`);
  });

  test.each<[string, string, (lines: string) => string]>([
    ["other lines", "A=1\n# a note\n\nB='2'\n", (lines) => `A=1\n# a note\n\nB='2'\n${lines}`],
    ["a last line without an end", "A=1", (lines) => `A=1\n${lines}`],
    [
      "names that only begin or end alike",
      `${TOKEN_NAME}_2=a\nMY_${TOKEN_NAME}=b\n`,
      (lines) => `${TOKEN_NAME}_2=a\nMY_${TOKEN_NAME}=b\n${lines}`,
    ],
    [
      "a lookalike within the quotes of another value",
      `NOTE="see\n${TOKEN_NAME}=${REAL_TOKEN}\nbelow"\n`,
      (lines) => `NOTE="see\n${TOKEN_NAME}=${REAL_TOKEN}\nbelow"\n${lines}`,
    ],
    ["lines as Windows ends them", "A=1\r\nB=2\r\n", (lines) => `A=1\r\nB=2\r\n${lines}`],
    ["a byte order mark", "\ufeffA=1\n", (lines) => `\ufeffA=1\n${lines}`],
    ["a quote that is not closed", "A='b\n", (lines) => `A='b\n${lines}`],
  ])("%s: each other byte and the mode stay", async (_, before, after) => {
    writeFileSync(file, before);
    chmodSync(file, 0o640);
    const lines = await write();
    expect(readFileSync(file, "utf8")).toBe(after(lines));
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o640);
    // The second time the values are its own, and are replaced where they stand.
    const again = await write();
    expect(again).not.toBe(lines);
    expect(readFileSync(file, "utf8")).toBe(after(again));
  });
});

/** A text with `<url>` and `<token>` in the place of the values. */
const withValuesOf = (text: string, lines: string): string => {
  const { [URL_NAME]: url = "", [TOKEN_NAME]: token = "" } = parseEnv(lines);
  return text.replaceAll("<url>", url).replaceAll("<token>", token);
};

describe("values of the emulator's own are replaced in their place, and empty ones filled", () => {
  test.each<[string, string]>([
    ["as it wrote them", `A=1\n${URL_NAME}=<url>\nB=2\n${TOKEN_NAME}=<token>\n`],
    ["as Windows ends lines", `A=1\r\n${URL_NAME}=<url>\r\n${TOKEN_NAME}=<token>\r\n`],
    ["beside a lookalike", `# ${TOKEN_NAME}=<x>\nN='\n${TOKEN_NAME}=x\n'\n${TOKEN_NAME}=<token>\n${URL_NAME}=<url>`],
  ])("%s", async (_, text) => {
    const earlier = [
      `${URL_NAME}=http://127.0.0.1:4010/api/v1\n${TOKEN_NAME}=emu_0123456789abcdef_0123456789abcdef0123456789abcdef`,
      `${URL_NAME}=http://localhost:61234/base\n${TOKEN_NAME}=emu_x_y`,
      `${URL_NAME}=http://[::1]:1/api/v1\n${TOKEN_NAME}=emu_a`,
      "",
    ];
    for (const lines of earlier) {
      writeFileSync(file, withValuesOf(text, lines));
      const written = await write();
      expect(readFileSync(file, "utf8")).toBe(withValuesOf(text, written));
    }
  });

  test("one is replaced, and the other one added", async () => {
    writeFileSync(file, `${TOKEN_NAME}=emu_a_b\nA=1`);
    const [url, token] = (await write()).trim().split("\n");
    expect(readFileSync(file, "utf8")).toBe(`${token}\nA=1\n${url}\n`);
  });

  test.runIf(process.platform !== "win32")("through a link, which stays a link", async () => {
    const link = join(folder, "link");
    writeFileSync(link, `${TOKEN_NAME}=emu_a_b\n`, { mode: 0o640 });
    symlinkSync(link, file);
    const before = factsOf(file);
    const [url, token] = (await write()).trim().split("\n");
    expect(factsOf(file)).toEqual(before);
    expect([readFileSync(link, "utf8"), statSync(link).mode & 0o777]).toEqual([`${token}\n${url}\n`, 0o640]);
  });
});

describe("any other value is left, and the emulator ends", () => {
  const OWN_TOKEN = `${TOKEN_NAME}=emu_a_b`;
  test.each<[string, string, string]>([
    ["a real pair", `${URL_NAME}=${REAL_URL}\n${TOKEN_NAME}=${REAL_TOKEN}\n`, `${URL_NAME} and ${TOKEN_NAME}`],
    ["a real token", `A=1\n${TOKEN_NAME}=${REAL_TOKEN}`, TOKEN_NAME],
    ["its own token in quotes over lines", `${TOKEN_NAME}='emu_a\n_b'\n`, TOKEN_NAME],
    ["a real token in a line of Windows", `A=1\r\n${TOKEN_NAME}=${REAL_TOKEN}\r\n`, TOKEN_NAME],
    ["an address elsewhere beside its own token", `${URL_NAME}=${REAL_URL}\n${OWN_TOKEN}\n`, URL_NAME],
    ...[
      "http://127.0.0.1.evil.example/api/v1",
      "http://localhost.evil/api/v1",
      "http://notlocalhost:4010/api/v1",
      "http://127.0.0.1@evil.example/api/v1",
      "http://127.0.0.1:80@evil.example/api/v1",
      "http://me:secret@127.0.0.1:4010/api/v1",
      "http://evil.example/?http://127.0.0.1:4010/api/v1",
      "http://evil.example#@localhost/api/v1",
      "http://127.0.0.1:4010/api/v1?key=secret",
      "https://127.0.0.1:4010/api/v1",
      "127.0.0.1:4010",
    ].map((url): [string, string, string] => [url, `${URL_NAME}="${url}"\n${OWN_TOKEN}\n`, URL_NAME]),
  ])("%s", async (_, text, names) => {
    writeFileSync(file, text);
    if (process.platform !== "win32") chmodSync(file, 0o644);
    const before = factsOf(file);
    expect(await refusal()).toBe(
      `project-automation emulator: cannot write --dotenv ${file}: it has a value of ${names} that the emulator did not write; the file is left as it is: name another file\n`,
    );
    expect(factsOf(file)).toEqual(before);
  });
});

describe("what it cannot write to is left as it is: one line, and exit code 1", () => {
  test.each(NO_REGULAR_FILES)("%s", async (_, make) => {
    const remove = await make(file);
    try {
      const before = factsOf(file);
      expect(await refusal()).toContain(
        `cannot write --dotenv ${file}: it is no regular file; the file is left as it is: name another file`,
      );
      expect(factsOf(file)).toEqual(before);
    } finally {
      remove();
    }
  });

  test.each<[string, Buffer]>([
    ["in UTF-16", Buffer.from("\ufeffA=1\r\n", "utf16le")],
    ["in Latin-1", Buffer.from("A=é\n", "latin1")],
  ])("a file %s", async (_, content) => {
    writeFileSync(file, content);
    const before = factsOf(file);
    expect(await refusal()).toContain(
      `cannot write --dotenv ${file}: it is no text in UTF-8; delete it, or name another file`,
    );
    expect(factsOf(file)).toEqual(before);
  });

  test.runIf(process.platform !== "win32")("a read-only file", async () => {
    chmodSync(folder, 0o755);
    writeFileSync(file, `${TOKEN_NAME}=emu_a_b\n`, { mode: 0o444 });
    const before = factsOf(file);
    const module = pathToFileURL(join(import.meta.dirname, "../../src/emulator/node/dotenv.ts")).href;
    // The rights of a file do not bind root.
    const program = `import { writeDotenv } from ${JSON.stringify(module)};
      if (process.geteuid() === 0) process.seteuid(65534);
      await writeDotenv(${JSON.stringify(file)}, {}).catch(({ message }) => process.stdout.write(message));`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program]);
    let told = "";
    child.stdout.on("data", (chunk: Buffer) => {
      told += chunk.toString();
    });
    await once(child, "close");
    expect(told).toContain(`cannot write --dotenv ${file}: EACCES`);
    expect(factsOf(file)).toEqual(before);
  });
});

describe("whatever the file, the parser of Node", () => {
  const VARIABLES = { [URL_NAME]: "http://127.0.0.1:4010/api/v1", [TOKEN_NAME]: "emu_0123_4567" } as const;
  const OWN = ["", "emu_a_b", "http://127.0.0.1:1/api/v1", "http://localhost:2"];
  const FOREIGN = [REAL_URL, REAL_TOKEN, "http://127.0.0.1.evil.example/", "emulated"];
  const NAMES = [URL_NAME, TOKEN_NAME];
  const MARKS = [
    "=",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "'",
    '"',
    "`",
    "#",
    "\\n",
    "export ",
    "\ufeff",
    "é",
    "A",
    "__proto__",
  ];
  const pieces = [
    ...MARKS,
    ...NAMES,
    ...NAMES.flatMap((name) => [...OWN, ...FOREIGN].map((value) => `\n${name}=${value}\n`)),
    ...["\n", "\nA=1\n", "\nB='x\ny'\n", "\n# c\n"],
  ];
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 16 }).map((all) => all.join(""));
  /** The mark of an editor is no part of a name. */
  const withoutMark = (text: string): string => text.replace(/^\ufeff/, "");
  const othersIn = (text: string) =>
    Object.entries(parseEnv(withoutMark(text))).filter(([name]) => !NAMES.includes(name));

  test("finds the two values afterwards, and each other variable as it was", () => {
    const seen = { set: 0, refused: 0 };
    fc.assert(
      fc.property(texts, (text) => {
        let after: string;
        try {
          after = withVariables(text, VARIABLES);
        } catch (error) {
          seen.refused += 1;
          expect(String(error)).toMatch(/; the file is left as it is: name another file$/);
          return;
        }
        seen.set += 1;
        expect(parseEnv(after)).toMatchObject(VARIABLES);
        expect(othersIn(after)).toEqual(othersIn(text));
        expect(withVariables(after, VARIABLES)).toBe(after);
        // Nothing is taken away but the emulator's own values.
        for (const value of FOREIGN) expect(after.split(value)).toHaveLength(text.split(value).length);
      }),
      { numRuns: 3_000 },
    );
    expect(Math.min(seen.set, seen.refused)).toBeGreaterThan(300);
  });
});
