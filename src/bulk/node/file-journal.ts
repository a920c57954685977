import { type FileHandle, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { expectType, parseOptions } from "../../client/checks/parse-options.ts";
import { validator } from "../../client/checks/validators.ts";
import { asErrorClass } from "../../client/errors/as-error-class.ts";
import { withCallerStack } from "../../client/errors/caller-stack.ts";
import { JournalError } from "../../client/errors/journal-error.ts";
import { ArgumentError } from "../../client/index.ts";
import { type FoundFile, findOrCreateFile, NotRegularFile, recognised, writeAll } from "../../files/regular-file.ts";
import type { Journal, JournalRecord } from "../journal.ts";
import { asJournalError } from "../thrown.ts";
import { flushFolder, restrictToOwner } from "./durable-file.ts";
import { FileLock, wasUsed } from "./file-lock.ts";
import { checkBeginning, encodeLine, headerLine, JournalReader, MAX_HEADER_LENGTH } from "./journal-format.ts";

const CHUNK_BYTES = 64 * 1024;

const PATH = validator("a string that is not empty", (value) => typeof value === "string" && value !== "");

/** A journal in a file. */
export interface FileJournal extends Journal {
  /** The path of the file, absolute and without symbolic links. */
  readonly path: string;
  /** Lets other runs use the file. A run does this at its end; call it for a journal that no run has used. */
  close(): Promise<void>;
}

/** Options of `fileJournal`. */
export interface FileJournalOptions {
  /**
   * The name of the import that the journal belongs to, such as `"issues 2026"`. It is written into a new file; a file
   * that has another one, or none, is refused when a run loads it. So two imports with the same keys cannot use each
   * other's journal.
   */
  readonly id?: string | undefined;
}

const ID = validator(
  "a string of 1 to 200 characters",
  (value) => typeof value === "string" && value.length > 0 && value.length <= 200,
);

/**
 * Opens a journal in a file, and keeps other runs from using it until the end of the run. The file is created if it is
 * missing; its folder must be there. Every batch of records is flushed to the disk before it counts. The file is its
 * owner's alone, also a journal that was there before. Nothing about any other file changes: neither content nor mode.
 *
 * @param path Path of the file. Lock files are created beside it.
 * @throws ArgumentError if `path` is not a string that is not empty, or an option is not as described.
 * @throws JournalError if another run uses the file (`in_use`), if it is no journal or no regular file (`not_a_journal`), or
 * if it cannot be opened (`failed`).
 *
 * @example
 * await bulkWrite({ client, items, key, send, journal: await fileJournal("import.journal") });
 */
export function fileJournal(path: string, options?: FileJournalOptions): Promise<FileJournal> {
  const read = () => {
    expectType(path, "path", PATH);
    return parseOptions<FileJournalOptions>(options, "options", { id: ID });
  };
  return withCallerStack(fileJournal, async () => {
    const { id } = asErrorClass(ArgumentError, read);
    try {
      const journal = new JournalFile(await actualPath(path), headerLine(id));
      await journal.open();
      return journal;
    } catch (error) {
      throw asJournalError(error, "be opened");
    }
  });
}

/** Two paths of one file are one lock. The file has to be there for that: a link may lead to one that is not there yet. */
async function actualPath(path: string): Promise<string> {
  const file = await findJournal(path);
  await file.close();
  return realpath(path);
}

/** @throws JournalError `not_a_journal` for a folder, a device, a FIFO */
async function findJournal(path: string): Promise<FoundFile> {
  return findOrCreateFile(path).catch((cause: unknown) => {
    if (!(cause instanceof NotRegularFile)) throw cause;
    throw new JournalError(`${path} cannot be a journal: ${cause.message}`, { reason: "not_a_journal" });
  });
}

/** Looks at the beginning of a file alone: lock files are made beside a journal, and a lock may replace it by its copy. */
async function checkFile(path: string, header: Uint8Array): Promise<void> {
  const file = await findJournal(path);
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(MAX_HEADER_LENGTH + 1), { position: 0 });
    checkBeginning(buffer.subarray(0, bytesRead), header, await wasUsed(path));
  } finally {
    await file.close();
  }
}

class JournalFile implements FileJournal {
  readonly path: string;
  readonly #header: Uint8Array;
  #lock: FileLock | undefined;
  #found: FoundFile | undefined;
  /** The file once all of it has been recognised, and the end of what has been read and written. */
  #own: { readonly file: FileHandle; readonly size: number; readonly checksum: number } | undefined;
  /** Loaded since it was opened. `RunJournal` sees to that within its copy of the package; this sees the other copy. */
  #isLoaded = false;

  constructor(path: string, header: Uint8Array) {
    this.path = path;
    this.#header = header;
  }

  async open(): Promise<void> {
    await checkFile(this.path, this.#header);
    this.#lock = await FileLock.take(this.path);
    try {
      this.#found = await findJournal(this.path);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async *load(): AsyncGenerator<JournalRecord> {
    if (this.#isLoaded) throw new JournalError("another run uses this journal", { reason: "in_use" });
    if (this.#found === undefined) await this.open();
    this.#isLoaded = true;
    const found = this.#opened();
    const reader = new JournalReader(this.#header);
    const chunk = new Uint8Array(CHUNK_BYTES);
    let length = 0;
    for (;;) {
      const { bytesRead } = await found.read(chunk, 0, CHUNK_BYTES, length);
      if (bytesRead === 0) break;
      length += bytesRead;
      yield* reader.read(chunk.slice(0, bytesRead));
    }
    reader.end();
    try {
      await this.#lock?.confirm();
      await confirmUnchanged(found, length);
    } catch (error) {
      await this.close(); // the caller does not: it takes the journal for that of another run
      throw error;
    }
    const file = recognised(found);
    await restrictToOwner(file);
    await file.truncate(reader.size); // the torn end
    if (reader.size === 0) await this.#begin(file);
    this.#own = { file, size: Math.max(reader.size, this.#header.length), checksum: reader.checksum };
  }

  async append(records: readonly JournalRecord[]): Promise<void> {
    if (this.#own === undefined) {
      throw new JournalError("the journal must be loaded before it is written to, and again after a failure", {
        reason: "misused",
      });
    }
    const { file, size, checksum: previous } = this.#own;
    const { bytes, checksum } = encodeLine(records, previous);
    this.#own = undefined; // until it is certain again
    await this.#lock?.confirm();
    await confirmUnchanged(file, size);
    await this.#write(file, bytes, size);
    // A request may follow only a line that every other run can read.
    await this.#lock?.confirm();
    this.#own = { file, size: size + bytes.length, checksum };
  }

  async close(): Promise<void> {
    const [found, lock] = [this.#found, this.#lock];
    this.#found = undefined;
    this.#lock = undefined;
    this.#own = undefined;
    this.#isLoaded = false;
    try {
      await found?.close();
    } finally {
      await lock?.release();
    }
  }

  #opened(): FoundFile {
    if (this.#found === undefined) throw new JournalError("the journal is closed", { reason: "misused" });
    return this.#found;
  }

  /** A new file: its name has to be durable as well. */
  async #begin(file: FileHandle): Promise<void> {
    await this.#write(file, this.#header, 0);
    await flushFolder(dirname(this.path));
  }

  /** Writes the end of the file, and makes it durable. */
  async #write(file: FileHandle, bytes: Uint8Array, size: number): Promise<void> {
    try {
      await writeAll(file, bytes, size);
      await file.datasync();
    } catch (error) {
      // After a failed flush it is not known what the file holds, so nothing more is written.
      await this.#cutOff(file, size);
      throw error;
    }
  }

  async #cutOff(file: FileHandle, size: number): Promise<void> {
    try {
      await this.#lock?.confirm();
      await file.truncate(size);
    } catch {
      // What is left is a torn end.
    }
  }
}

/** @throws JournalError if the file is not as long as it was left, is gone, or has another name beside its own. */
async function confirmUnchanged(file: FoundFile, expected: number): Promise<void> {
  const { size, nlink } = await file.stat();
  if (nlink > 1) {
    const message = `the journal file has ${nlink} hard links, and another run may use it by another one: delete all but one`;
    throw new JournalError(message, { reason: "misused" });
  }
  if (size === expected && nlink > 0) return;
  const what = nlink === 0 ? "has been deleted" : `has ${size} bytes, and had ${expected} when this run left it`;
  throw new JournalError(`the journal ${what}, so another run may use it`, { reason: "in_use" });
}
