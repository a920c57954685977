import { flawOfRecord, type JournalRecord } from "../journal.ts";
import { JournalError } from "../journal-error.ts";
import { crc32 } from "./crc32.ts";

/** The first line of every journal, without its line break. */
const HEADER = '{"format":"project-automation bulk journal","version":1}';
const HEADER_OF_ANY_VERSION = /^\{"format":"project-automation bulk journal","version":(\d+)\}$/;

/** Of any version. The first line of another file may be very long. */
const MAX_HEADER_LENGTH = 1_000;

const LINE_BREAK = 0x0a;
/** Eight hexadecimal digits and a space. */
const CHECKSUM_LENGTH = 9;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The first line, as bytes. */
export const HEADER_LINE: Uint8Array = encoder.encode(`${HEADER}\n`);
/** The checksum that the first line of records continues. */
export const FIRST_CHECKSUM: number = crc32(HEADER_LINE);

/**
 * A batch of records as one line, so that a batch is on the disk as a whole or is the torn end of the file. The
 * checksum continues that of the line before, so a line that is missing, moved or repeated is noticed too.
 */
export function encodeLine(
  records: readonly JournalRecord[],
  previous: number,
): { readonly bytes: Uint8Array; readonly checksum: number } {
  const json = JSON.stringify(records);
  const checksum = crc32(encoder.encode(json), previous);
  return { bytes: encoder.encode(`${checksum.toString(16).padStart(8, "0")} ${json}\n`), checksum };
}

/** Reads a journal piece by piece. Holds no more of it than one line. */
export class JournalReader {
  /** How many bytes of the file are whole lines. */
  size = 0;
  /** The checksum of the last of them. */
  checksum: number = FIRST_CHECKSUM;
  #line = 0;
  #rest: Uint8Array = new Uint8Array();

  /**
   * Returns the records of the lines that end in `chunk`.
   *
   * @throws JournalError if the file is not a journal, or a line is not as it was written.
   */
  *read(chunk: Uint8Array): Generator<JournalRecord> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, start)) {
      const line = concatenate(this.#rest, chunk.subarray(start, end));
      this.#rest = new Uint8Array();
      start = end + 1;
      yield* this.#readLine(line);
      this.size += line.length + 1;
    }
    this.#rest = concatenate(this.#rest, chunk.subarray(start));
    if (this.#line === 0 && this.#rest.length > MAX_HEADER_LENGTH) throw notAJournal();
  }

  /**
   * To be called at the end of the file. What follows the last line break was being written when a process or the
   * machine ended: no request left on the strength of it, so it does not count.
   *
   * @throws JournalError if it is no part of a journal, or a whole line that has lost its line break.
   */
  end(): void {
    if (this.#rest.length === 0) return;
    if (this.#line === 0) {
      const isTornHeader = startsWith(HEADER_LINE, this.#rest);
      if (!isTornHeader) throw notAJournal();
      return;
    }
    // One byte too many means that the line break was there, and has been changed.
    const line = this.#rest.subarray(0, -1);
    if (this.#parse(line) !== undefined) throw this.#damaged("has a changed line break", this.#line + 1);
  }

  *#readLine(line: Uint8Array): Generator<JournalRecord> {
    this.#line += 1;
    if (this.#line === 1) return checkHeader(line);
    const parsed = this.#parse(line);
    if (parsed === undefined) throw this.#damaged("does not have its checksum", this.#line);
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
      throw this.#damaged("is not JSON", this.#line, cause);
    }
    if (!Array.isArray(records)) throw this.#damaged("is not a list of records", this.#line);
    for (const record of records as unknown[]) {
      const flaw = flawOfRecord(record);
      if (flaw !== undefined) throw this.#damaged(`has a record that ${flaw}`, this.#line);
      yield record as JournalRecord; // it has no flaw
    }
  }

  #damaged(what: string, line: number, cause?: unknown): JournalError {
    const details = cause === undefined ? {} : { cause };
    return new JournalError(`line ${line} of the journal ${what}`, { reason: "damaged", line, ...details });
  }
}

function checkHeader(line: Uint8Array): void {
  const text = new TextDecoder().decode(line);
  if (text === HEADER) return;
  const [, version] = HEADER_OF_ANY_VERSION.exec(text) ?? [];
  if (version === undefined) throw notAJournal();
  const message = `the journal has version ${version} of the format, which this version of the package does not know`;
  throw new JournalError(message, { reason: "not_a_journal", line: 1 });
}

function notAJournal(): JournalError {
  return new JournalError("line 1 is not the first line of a journal", { reason: "not_a_journal", line: 1 });
}

function startsWith(bytes: Uint8Array, beginning: Uint8Array): boolean {
  return beginning.length <= bytes.length && beginning.every((byte, index) => byte === bytes[index]);
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
