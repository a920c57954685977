/** A file that a journal is given and that is not its own, or not a journal any more, is left as it is. */
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { bulkWrite } from "../../src/bulk/index.ts";
import { headerLine } from "../../src/bulk/node/journal-format.ts";
import { fileJournal } from "../../src/bulk/node.ts";
import { factsOf, NO_REGULAR_FILES } from "../support/files.ts";
import { key, rowsOf, runToEnd, send, service } from "./rows.ts";

const HAS_MODES = process.platform !== "win32";
const HEADER = Buffer.from(headerLine()).toString();
/** Other programs write JSON that begins as the first line of a journal does; only with its name it is one. */
const TELLING = HEADER.indexOf(",");

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bulk-"));
  path = join(folder, "file");
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** What a run on the file ends with, and the number of its requests. */
async function runOn(
  file: string,
  id?: string,
  { emulator, client } = service(),
): Promise<{ readonly error: unknown; readonly requests: number }> {
  try {
    const journal = fileJournal(file, { id });
    const { error } = await runToEnd(bulkWrite({ items: rowsOf(1), key, client, send, journal }));
    return { error, requests: emulator.requests.length };
  } catch (error) {
    return { error, requests: emulator.requests.length };
  }
}

const NOT_A_JOURNAL = {
  error: { kind: "journal", reason: "not_a_journal", message: expect.stringContaining("the file is left as it is") },
  requests: 0,
};

/** Runs on the file, and proves that nothing about it or in its folder has changed. */
async function expectUntouched(expected: object, id?: string): Promise<void> {
  const before = [factsOf(path), readdirSync(folder)];
  expect(await runOn(path, id)).toMatchObject(expected);
  expect([factsOf(path), readdirSync(folder)]).toEqual(before);
}

test.each(NO_REGULAR_FILES)("%s is refused, and left as it is", async (_, make) => {
  const remove = await make(path);
  try {
    await expectUntouched(NOT_A_JOURNAL);
  } finally {
    remove();
  }
});

describe("a file that is no journal is refused, and left as it is", () => {
  const OTHERS: readonly (readonly [what: string, content: string | Buffer, mode: number])[] = [
    ["a script", "#!/bin/sh\necho hello\n", 0o755],
    ["a table", "id,title\nA-1,Login page is blank\n", 0o644],
    ["one without a line break", "id,title", 0o640],
    ["an opening brace", "{", 0o644],
    ["JSON", '{"format":"A4"}\n', 0o666],
    ["JSON in many lines", '{\n  "format": 1\n}\n', 0o644],
    ["an opening brace and a quote", '{"', 0o644],
    ["the first line of a journal up to the name of its format", HEADER.slice(0, TELLING - 1), 0o644],
    ["a line that goes on otherwise", `${HEADER.slice(0, -2)},\n`, 0o644],
    ["an empty line", "\n", 0o644],
    ["a long line", "x".repeat(5_000), 0o644],
    ["a text in UTF-16", Buffer.from(`\ufeff${HEADER}`, "utf16le"), 0o644],
    ["zero bytes, as a power cut may leave them", Buffer.alloc(60), 0o644],
  ];
  test.each(OTHERS)("%s", async (_, content, mode) => {
    writeFileSync(path, content);
    if (HAS_MODES) chmodSync(path, mode);
    await expectUntouched(NOT_A_JOURNAL);
  });

  test("whatever it holds", async () => {
    const beginnings = fc.nat({ max: HEADER.length - 1 }).map((length) => HEADER.slice(0, length));
    const contents = fc.tuple(fc.oneof(fc.constant(""), beginnings), fc.string({ unit: "binary", minLength: 1 }));
    await fc.assert(
      fc.asyncProperty(contents, async ([beginning, rest]) => {
        const content = beginning + rest;
        fc.pre(!HEADER.startsWith(content) && !content.startsWith(HEADER));
        writeFileSync(path, content, { mode: 0o644 });
        await expectUntouched(NOT_A_JOURNAL);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a journal that is refused is left as it is", () => {
  beforeEach(async () => {
    await runOn(path, "issues");
    if (HAS_MODES) chmodSync(path, 0o644);
  });
  const edit = (change: (text: string) => string): void => writeFileSync(path, change(readFileSync(path, "utf8")));

  test("as it is that of another import", async () => {
    await expectUntouched({ error: { reason: "misused" } }, "other issues");
  });

  test("as a line was edited", async () => {
    edit((text) => text.replace("row-1", "row-7"));
    await expectUntouched({ error: { reason: "damaged", line: 2 } }, "issues");
  });
});

describe("a journal that is used", () => {
  test.runIf(HAS_MODES).each([0o644, 0o666, 0o755])("with mode %o is its owner's alone from then on", async (mode) => {
    const same = service();
    for (let time = 0; time < 2; time += 1) {
      if (time === 0) writeFileSync(path, "");
      chmodSync(path, mode);
      expect((await runOn(path, undefined, same)).error).toBeUndefined();
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
  });

  test("is begun again where its first line was torn anywhere, and the run that wrote it has died", async () => {
    for (let length = 1; length < HEADER.length; length += 1) {
      writeFileSync(path, HEADER.slice(0, length));
      const lock = `${path}.0123456789ab-1-1-00000000.lock`;
      writeFileSync(lock, "is held");
      utimesSync(lock, 0, 0);
      expect(await runOn(path)).toEqual({ error: undefined, requests: 1 });
      expect(readdirSync(folder)).toEqual(["file"]);
      rmSync(path);
    }
  });
});
