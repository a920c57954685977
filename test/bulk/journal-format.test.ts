/** The format of a journal in a file: what was written is read again, and later changes are errors. */
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JournalRecord } from "../../src/bulk/index.ts";
import { JournalError } from "../../src/bulk/index.ts";
import { encodeLine, headerLine, JournalReader } from "../../src/bulk/node/journal-format.ts";
import { anyCharacter } from "../support/characters.ts";

const HEADER_LINE = headerLine();
const FIRST_CHECKSUM = crc32(HEADER_LINE);

const records: fc.Arbitrary<JournalRecord> = fc.record(
  {
    key: fc.string({ unit: anyCharacter, minLength: 1 }),
    state: fc.constantFrom("sending", "done", "refused", "not_sent", "unknown"),
    at: fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date("2100-01-01") })
      .map((date) => date.toISOString()),
    reference: fc.oneof(fc.string(), fc.integer()),
  },
  { requiredKeys: ["key", "state", "at"] },
);
const batches = fc.array(fc.array(records, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 });

/** A file of these batches, and where each of its lines ends. */
function written(all: readonly (readonly JournalRecord[])[]): { readonly file: Uint8Array; readonly ends: number[] } {
  const lines: Uint8Array[] = [HEADER_LINE];
  let checksum = FIRST_CHECKSUM;
  for (const batch of all) {
    const line = encodeLine(batch, checksum, "0a1b2c3d");
    lines.push(line.bytes);
    checksum = line.checksum;
  }
  const ends = lines.map((_, index) => lines.slice(0, index + 1).reduce((sum, { length }) => sum + length, 0));
  return { file: Buffer.concat(lines), ends };
}

/** Reads a file in chunks of a size; the reader says where the next line goes. */
function read(
  file: Uint8Array,
  chunk = 1_000_000,
): { readonly found: JournalRecord[]; readonly reader: JournalReader } {
  const reader = new JournalReader(HEADER_LINE);
  const found: JournalRecord[] = [];
  for (let at = 0; at < file.length; at += chunk) found.push(...reader.read(file.slice(at, at + chunk)));
  reader.end();
  return { found, reader };
}

function errorOf(act: () => unknown): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error;
  }
}

test("what was written is read again, whatever the size of the pieces", () => {
  fc.assert(
    fc.property(batches, fc.integer({ min: 1, max: 200 }), (all, chunk) => {
      const { file } = written(all);
      const { found, reader } = read(file, chunk);
      expect(found).toEqual(JSON.parse(JSON.stringify(all.flat())));
      expect(reader.size).toBe(file.length);
    }),
  );
});

test("a file that ends anywhere is read up to its last whole line, and can be gone on with there", () => {
  fc.assert(
    fc.property(batches, fc.nat(), fc.array(records, { minLength: 1, maxLength: 2 }), (all, cut, more) => {
      const { file, ends } = written(all);
      const length = cut % (file.length + 1);
      const whole = ends.filter((end) => end <= length).length;
      const { found, reader } = read(file.slice(0, length));
      expect(found).toEqual(JSON.parse(JSON.stringify(all.slice(0, Math.max(0, whole - 1)).flat())));
      expect(reader.size).toBe(ends[whole - 1] ?? 0);

      const start = whole === 0 ? HEADER_LINE : file.slice(0, reader.size);
      const goneOn = Buffer.concat([start, encodeLine(more, reader.checksum, "4e5f6071").bytes]);
      expect(read(goneOn).found).toEqual([...found, ...(JSON.parse(JSON.stringify(more)) as JournalRecord[])]);
    }),
  );
});

test("a byte that has changed is an error that names its line", () => {
  fc.assert(
    fc.property(batches, fc.nat(), fc.integer({ min: 1, max: 255 }), (all, where, change) => {
      const { file, ends } = written(all);
      const at = where % file.length;
      const changed = file.slice();
      changed[at] = (changed[at] ?? 0) ^ change;
      const error = errorOf(() => read(changed));
      expect(error).toBeInstanceOf(JournalError);
      expect(error).toMatchObject({ line: ends.findIndex((end) => at < end) + 1 });
    }),
    { numRuns: 300 },
  );
});

test("a line that is missing, moved or repeated is an error", () => {
  fc.assert(
    fc.property(fc.array(fc.array(records, { minLength: 1, maxLength: 2 }), { minLength: 3, maxLength: 5 }), (all) => {
      const { file, ends } = written(all);
      const lines = ends.map((end, index) => file.slice(ends[index - 1] ?? 0, end));
      const [header = HEADER_LINE, first = HEADER_LINE, second = HEADER_LINE, ...rest] = lines;
      const missing = Buffer.concat([header, second, ...rest]);
      const moved = Buffer.concat([header, second, first, ...rest]);
      const repeated = Buffer.concat([header, first, first, second, ...rest]);
      expect(errorOf(() => read(missing))).toMatchObject({ reason: "damaged", line: 2 });
      expect(errorOf(() => read(moved))).toMatchObject({ reason: "damaged", line: 2 });
      expect(errorOf(() => read(repeated))).toMatchObject({ reason: "damaged", line: 3 });
    }),
  );
});

test.each([
  ["line breaks of Windows", (text: string) => text.replaceAll("\n", "\r\n")],
  ["a byte order mark", (text: string) => `\ufeff${text}`],
  ["another order of its fields", () => '{"version":1,"format":"project-automation bulk journal"}\n'],
])("a first line that an editor has saved with %s is damaged", (_, edit) => {
  const edited = Buffer.from(edit(Buffer.from(HEADER_LINE).toString()));
  expect(errorOf(() => read(edited))).toMatchObject({
    reason: "damaged",
    line: 1,
    message: "line 1 of the journal is not as it was written",
  });
});

describe("a file that is no journal", () => {
  test("but of a later version is refused, with the version", () => {
    const later = Buffer.from(HEADER_LINE).toString().replace('"version":1', '"version":2');
    expect(errorOf(() => read(Buffer.from(later)))).toMatchObject({
      reason: "not_a_journal",
      message: expect.stringContaining("version 2"),
    });
  });
});
