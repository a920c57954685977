import { TextDecoder, TextEncoder } from "node:util"; // a test environment may lack the global ones
import { crc32 } from "node:zlib";
import { JournalError } from "../../core/errors/journal-error.ts";
import { type JournalRecord, problemOfRecord } from "../journal.ts";

const FORMAT = "project-automation bulk journal";
const VERSION = 1;

/** Of any version, in bytes. The first line of another file may be very long. */
export const MAX_HEADER_LENGTH = 2_000;

const LINE_BREAK = 0x0a;
/** Eight hexadecimal digits and a space. */
const CHECKSUM_LENGTH = 9;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The beginning of each first line. A shorter part tells nothing: other programs write JSON, too. */
const TELLING = encoder.encode(`{"format":${JSON.stringify(FORMAT)}`);

/** The first line of the journal of an import, as bytes. `id`: whose journal it is, if it says so. */
export function headerLine(id?: string): Uint8Array {
  return encoder.encode(`${JSON.stringify({ format: FORMAT, version: VERSION, id })}\n`);
}

/**
 * A batch of records as one line, so that a batch is on the disk as a whole or is the torn end of the file. The
 * checksum continues that of the line before, so a line that is missing, moved or repeated is noticed too. The first record
 * names the run, so no other run has the same line.
 */
export function encodeLine(
  records: readonly JournalRecord[],
  previous: number,
  run: string,
): { readonly bytes: Uint8Array; readonly checksum: number } {
  const json = JSON.stringify(records.map((record, index) => (index === 0 ? { run, ...record } : record)));
  const checksum = crc32(encoder.encode(json), previous);
  return { bytes: encoder.encode(`${checksum.toString(16).padStart(8, "0")} ${json}\n`), checksum };
}

/**
 * Recognises a journal of any import and version by its first bytes, which may be all: a first line, a torn one, or nothing.
 * `header`: the first line that it would be given. `wasUsed`: a run has used the file, so it was a journal or empty.
 *
 * @throws JournalError `not_a_journal`
 */
export function checkBeginning(bytes: Uint8Array, header: Uint8Array, wasUsed: boolean): void {
  const end = bytes.indexOf(LINE_BREAK);
  if (end >= 0) return void fieldsOf(bytes.subarray(0, end));
  const isTold = bytes.length === 0 || wasUsed || startsWith(bytes, TELLING);
  if (!isTold || !startsWith(header, bytes)) throw notAJournal();
}

/** Reads a journal piece by piece. Holds no more of it than one line. */
export class JournalReader {
  size = 0;
  /** The checksum of the last of them; the first line of records continues that of the header. */
  checksum: number;
  readonly #header: Uint8Array;
  #line = 0;
  #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(header: Uint8Array) {
    this.#header = header;
    this.checksum = crc32(header);
  }

  /**
   * Returns the records of the lines that end in `chunk`.
   *
   * @throws JournalError if the file is not a journal, or a line is not as it was written.
   */
  *read(chunk: Uint8Array): Generator<JournalRecord> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, start)) {
      this.#collect(chunk.subarray(start, end));
      const line = this.#collected();
      start = end + 1;
      yield* this.#readLine(line);
      this.size += line.length + 1;
    }
    this.#collect(chunk.subarray(start));
    if (this.#line === 0 && this.#length > MAX_HEADER_LENGTH) throw notAJournal();
  }

  /**
   * Returns what follows the last line break: it was being written when a process or the machine ended. No request left on the strength of it, so it does not count.
   *
   * @throws JournalError if it is no part of a journal, or a whole line that has lost its line break.
   */
  end(): Uint8Array {
    const rest = this.#collected();
    if (rest.length === 0) return rest;
    if (this.#line === 0) {
      const isTornHeader = startsWith(this.#header, rest);
      if (!isTornHeader) throw notAJournal();
      return rest;
    }
    // One byte too many means that the line break was there, and has been changed.
    if (this.#parse(rest.subarray(0, -1)) !== undefined) throw damaged("has a changed line break", this.#line + 1);
    return rest;
  }

  #collect(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  #collected(): Uint8Array {
    const line = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return line;
  }

  *#readLine(line: Uint8Array): Generator<JournalRecord> {
    this.#line += 1;
    if (this.#line === 1) return checkHeader(line, this.#header);
    const parsed = this.#parse(line);
    if (parsed === undefined) throw damaged("does not have its checksum", this.#line);
    this.checksum = parsed.checksum;
    yield* this.#recordsOf(parsed.json);
  }

  #parse(line: Uint8Array): { readonly json: Uint8Array; readonly checksum: number } | undefined {
    const json = line.subarray(CHECKSUM_LENGTH);
    const checksum = crc32(json, this.checksum);
    const expected = encoder.encode(`${checksum.toString(16).padStart(8, "0")} `);
    return json.length > 0 && startsWith(line, expected) ? { json, checksum } : undefined;
  }

  *#recordsOf(json: Uint8Array): Generator<JournalRecord> {
    let records: unknown;
    try {
      records = JSON.parse(decoder.decode(json));
    } catch (cause) {
      throw damaged("is not JSON", this.#line, cause);
    }
    if (!Array.isArray(records)) throw damaged("is not a list of records", this.#line);
    for (const record of records as unknown[]) {
      const problem = problemOfRecord(record);
      if (problem !== undefined) throw damaged(`has a record that ${problem}`, this.#line);
      yield withoutRun(record as JournalRecord); // it has no problem
    }
  }
}

function withoutRun(record: JournalRecord & { readonly run?: unknown }): JournalRecord {
  if (!Object.hasOwn(record, "run")) return record;
  const { run: _, ...rest } = record;
  return rest;
}

function checkHeader(line: Uint8Array, expected: Uint8Array): void {
  if (line.length + 1 === expected.length && startsWith(expected, line)) return;
  const { version, id } = fieldsOf(line);
  if (version !== VERSION) {
    const message = `the journal has version ${version} of the format, which this version of the package does not know`;
    throw new JournalError(message, { reason: "not_a_journal", line: 1 });
  }
  const wanted = fieldsOf(expected).id;
  if (id === wanted) throw damaged("is not as it was written", 1);
  const message = `the journal is that of ${describeId(id)}, and not of ${describeId(wanted)}`;
  throw new JournalError(message, { reason: "misused", line: 1 });
}

function fieldsOf(line: Uint8Array): { readonly version: number; readonly id: unknown } {
  try {
    const fields = JSON.parse(decoder.decode(line)) as Partial<Record<string, unknown>>; // null has no fields, and throws
    const { format, version, id } = fields;
    if (format === FORMAT && typeof version === "number") return { version, id };
  } catch {}
  throw notAJournal();
}

function describeId(id: unknown): string {
  return id === undefined ? "an import without an id" : `the import ${JSON.stringify(id)}`;
}

function damaged(what: string, line: number, cause?: unknown): JournalError {
  const details = cause === undefined ? {} : { cause };
  return new JournalError(`line ${line} of the journal ${what}`, { reason: "damaged", line, ...details });
}

function notAJournal(): JournalError {
  return new JournalError("line 1 is not the first line of a journal; the file is left as it is: check its path", {
    reason: "not_a_journal",
    line: 1,
  });
}

function startsWith(bytes: Uint8Array, beginning: Uint8Array): boolean {
  return beginning.length <= bytes.length && beginning.every((byte, index) => byte === bytes[index]);
}
