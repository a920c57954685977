import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
});
