import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeOutput } from "../../src/command/output-file.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "output-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A terminal that nothing may be written to. */
const SILENT = {
  out: (text: string) => expect.unreachable(text),
  err: (text: string) => expect.unreachable(text),
};

const MODULE = JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../src/command/output-file.ts")));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

// Windows has neither modes nor FIFOs, and no names for its standard streams.
describe.runIf(process.platform !== "win32")("the file of --out", () => {
  test.each<[string, string | undefined]>([
    ["that is not there", undefined],
    ["that others could read, and that was longer", "x".repeat(100)],
  ])("%s: holds the result alone, for its owner alone", async (name, before) => {
    const file = join(folder, `${name}.json`);
    if (before !== undefined) writeFileSync(file, before, { mode: 0o644 });
    await writeOutput(file, "{}\n", SILENT);
    expect([readFileSync(file, "utf8"), modeOf(file)]).toEqual(["{}\n", 0o600]);
  });

  test("behind a link is the file that the link leads to", async () => {
    const [file, link] = [join(folder, "target.json"), join(folder, "link.json")];
    writeFileSync(file, "before");
    symlinkSync(file, link);
    await writeOutput(link, "{}\n", SILENT);
    expect([readFileSync(file, "utf8"), modeOf(file)]).toEqual(["{}\n", 0o600]);
  });

  test("that is a FIFO is written to, and keeps its mode", async () => {
    const fifo = join(folder, "fifo");
    execFileSync("mkfifo", [fifo]);
    chmodSync(fifo, 0o666);
    const read = readFile(fifo, "utf8");
    await writeOutput(fifo, "{}\n", SILENT);
    expect([await read, modeOf(fifo)]).toEqual(["{}\n", 0o666]);
  });

  /** Runs a program that prints a report and then writes a file, and returns what is in its standard output. */
  async function printAndWrite(flags: string, name: string): Promise<string> {
    const file = join(folder, `${flags}${name.replaceAll("/", "-")}.txt`);
    writeFileSync(file, "earlier\n", { mode: 0o644 });
    const target = name === "" ? file : name;
    const program = `
      import { writeOutput } from ${MODULE};
      const terminal = { out: (text) => process.stdout.write(text), err: (text) => process.stderr.write(text) };
      terminal.out("report\\n");
      await writeOutput(${JSON.stringify(target)}, "{}\\n", terminal);
      terminal.out("end\\n");`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      stdio: ["ignore", openSync(file, flags), "inherit"],
    });
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(modeOf(file)).toBe(0o644);
    return readFileSync(file, "utf8");
  }

  test.each<[string, string, string]>([
    ["a", "/dev/stdout", "earlier\nreport\n{}\nend\n"],
    ["w", "/dev/stdout", "report\n{}\nend\n"],
    ["a", "", "earlier\nreport\n{}\nend\n"],
  ])("that is the standard output, opened by %j as %j, keeps what was printed", async (flags, name, text) => {
    expect(await printAndWrite(flags, name)).toBe(text);
  });

  test("that is a standard output which is a socket is written to", async () => {
    const program = `
      import { writeOutput } from ${MODULE};
      await writeOutput("/dev/stdout", "{}\\n", { out: (text) => process.stdout.write(text), err: () => {} });`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program]);
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(out).toBe("{}\n");
  });
});
