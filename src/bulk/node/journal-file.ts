import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { JournalError } from "../../core/errors/journal-error.ts";
import {
  type FoundFile,
  findOrCreateFile,
  flush,
  NotRegularFile,
  recognised,
  writeAll,
} from "../../files/regular-file.ts";
import type { JournalRecord } from "../journal.ts";
import { asJournalError } from "../thrown.ts";
import { cutEnd, type Ending, flushFolder, pause, restrictToOwner } from "./durable-file.ts";
import { FileLock, wasUsed } from "./file-lock.ts";
import { checkBeginning, encodeLine, JournalReader, MAX_HEADER_LENGTH } from "./journal-format.ts";

const CHUNK_BYTES = 64 * 1024;

/** The interval and the number of looks at what other runs have appended, which they may take away. */
const LOOK_MS = 20;
const LOOKS = 100;
const LOOKS_AT_DAMAGE = 25;

/**
 * The file of a journal while one run uses it: loaded once, then written to, then closed.
 *
 * The lock beside the file keeps out runs that see it. A run in another container may have the file alone, so the file tells
 * as well: everything is appended, and its length is looked at after the flush. Of two lines that are appended at once, the
 * run of the later one sees another length than it has written, and takes its line away; so may the other one.
 */
export class JournalFile {
  /** Absolute; once it is open, also without symbolic links. */
  #path: string;
  readonly #header: Uint8Array;
  readonly #run = randomBytes(4).toString("hex");
  #opening: Promise<unknown> | undefined;
  #lock: FileLock | undefined;
  #found: FoundFile | undefined;
  /** The file once all of it has been recognised, and the end of what has been read and written. */
  #own: { readonly file: FileHandle; readonly size: number; readonly checksum: number } | undefined;
  #isClosed = false;

  constructor(path: string, header: Uint8Array) {
    this.#path = path;
    this.#header = header;
  }

  async *load(): AsyncGenerator<JournalRecord> {
    const opening = this.#open();
    this.#opening = opening.catch(() => {});
    const found = await opening.catch((error: unknown) => {
      throw asJournalError(error, "be opened");
    });
    const reader = new JournalReader(this.#header);
    const torn = yield* this.#read(found, reader);
    await this.#lock?.confirm();
    await confirmUnchanged(found, reader.size + torn.length);
    const file = recognised(found);
    await restrictToOwner(file);
    if (!cutEnd(file, { path: this.#path, from: reader.size, bytes: torn }))
      throw inUse("has a line of another run at its end");
    if (reader.size === 0) await this.#begin(file);
    this.#own = { file, size: Math.max(reader.size, this.#header.length), checksum: reader.checksum };
  }

  /** Resolves when the records are durable. After a rejection the file is to be closed. */
  async append(records: readonly JournalRecord[]): Promise<void> {
    if (this.#own === undefined) {
      const message = "the journal must be loaded before it is written to, and again after a failure";
      throw new JournalError(message, { reason: "misused" });
    }
    const { file, size, checksum: previous } = this.#own;
    const { bytes, checksum } = encodeLine(records, previous, this.#run);
    this.#own = undefined; // until it is certain again
    await this.#lock?.confirm();
    await confirmUnchanged(file, size);
    await this.#write(file, { path: this.#path, from: size, bytes });
    // A request may follow only a line that every other run can read.
    await this.#lock?.confirm();
    this.#own = { file, size: size + bytes.length, checksum };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#own = undefined;
    await this.#opening;
    const [found, lock] = [this.#found, this.#lock];
    this.#found = undefined;
    this.#lock = undefined;
    try {
      await found?.close();
    } finally {
      await lock?.release();
    }
  }

  async #open(): Promise<FoundFile> {
    this.#path = await findJournal(this.#path, this.#header);
    this.#lock = await FileLock.take(this.#path);
    // Anew: a network file system shows what another run has written only to a file that is opened after it.
    const found = await openJournal(this.#path);
    this.#found = found;
    if (!this.#isClosed) return found;
    throw new JournalError("the journal was closed while it was being opened", { reason: "failed" });
  }

  async *#read(found: FoundFile, reader: JournalReader): AsyncGenerator<JournalRecord, Uint8Array> {
    const { size } = await found.stat();
    const chunk = new Uint8Array(CHUNK_BYTES);
    let length = 0;
    try {
      for (;;) {
        const { bytesRead } = await found.read(chunk, 0, CHUNK_BYTES, length);
        if (bytesRead === 0) return reader.end();
        length += bytesRead;
        yield* reader.read(chunk.slice(0, bytesRead));
      }
    } catch (error) {
      const isDamaged = error instanceof JournalError && error.reason === "damaged";
      // Lines that two other runs have appended at once look like damage, until one is taken away.
      for (let look = 0; isDamaged && look < LOOKS_AT_DAMAGE; look += 1) {
        await pause(LOOK_MS);
        await confirmUnchanged(found, Math.max(size, length));
      }
      throw error;
    }
  }

  /** A new file: its name has to be durable as well. */
  async #begin(file: FileHandle): Promise<void> {
    await this.#write(file, { path: this.#path, from: 0, bytes: this.#header });
    await flushFolder(dirname(this.#path));
  }

  /** Appends the end of the file, and makes it durable. Resolves if nothing else was appended. */
  async #write(file: FileHandle, ending: Ending): Promise<void> {
    try {
      await writeAll(file, ending.bytes);
      await flush(file);
      await confirmWritten(file, ending);
    } catch (error) {
      // After a failed flush it is not known what the file holds, so nothing more is written.
      await takeAway(file, ending);
      throw error;
    }
  }
}

/** Takes bytes of this run away again. If those of another run follow, that run takes its own away first. */
async function takeAway(file: FileHandle, ending: Ending): Promise<void> {
  try {
    for (let look = 1; !cutEnd(file, ending) && look < LOOKS; look += 1) {
      await pause(LOOK_MS);
    }
  } catch {
    // The file then ends with a torn line, or with a line without its request.
  }
}

/** @throws JournalError `not_a_journal` for a folder, a device, a FIFO */
async function openJournal(path: string): Promise<FoundFile> {
  return findOrCreateFile(path, constants.O_APPEND).catch((cause: unknown) => {
    if (!(cause instanceof NotRegularFile)) throw cause;
    throw new JournalError(`${path} cannot be a journal: ${cause.message}`, { reason: "not_a_journal" });
  });
}

/** Looks at the beginning of a file, and returns its path without links: lock files are made beside a journal alone. */
async function findJournal(path: string, header: Uint8Array): Promise<string> {
  const file = await openJournal(path);
  try {
    const real = await realpath(path); // two paths of one file are one lock
    const { buffer, bytesRead } = await file.read(new Uint8Array(MAX_HEADER_LENGTH + 1), { position: 0 });
    checkBeginning(buffer.subarray(0, bytesRead), header, await wasUsed(real));
    return real;
  } finally {
    await file.close();
  }
}

/** @throws JournalError if the file is not as long as it was left, or is gone. */
async function confirmUnchanged(file: FoundFile, expected: number): Promise<void> {
  const { size, nlink } = await file.stat();
  if (size === expected && nlink > 0) return;
  const what = nlink === 0 ? "has been deleted" : `has ${size} bytes, and had ${expected} when this run left it`;
  throw inUse(what);
}

/** @throws JournalError if the file does not end with what this run has appended, in the place that it expected. */
async function confirmWritten(file: FileHandle, { from, bytes }: Ending): Promise<void> {
  await confirmUnchanged(file, from + bytes.length);
  // Lines of two runs may have one length.
  const { buffer } = await file.read(new Uint8Array(bytes.length), { position: from });
  if (Buffer.compare(buffer, bytes) !== 0) throw inUse("has a line of another run in the place of this run's");
}

function inUse(what: string): JournalError {
  return new JournalError(`the journal ${what}, so another run may use it`, { reason: "in_use" });
}
