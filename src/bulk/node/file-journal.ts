import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { expectType, parseOptions } from "../../client/checks/parse-options.ts";
import { validator } from "../../client/checks/validators.ts";
import { asErrorClass } from "../../client/errors/as-error-class.ts";
import { withCallerStack } from "../../client/errors/caller-stack.ts";
import { JournalError } from "../../client/errors/journal-error.ts";
import { ArgumentError } from "../../client/index.ts";
import type { Journal, JournalRecord } from "../journal.ts";
import { asJournalError } from "../thrown.ts";
import { flushFolder, OWNER_ONLY, restrictToOwner, withFile, writeAll } from "./durable-file.ts";
import { FileLock } from "./file-lock.ts";
import { encodeLine, headerLine, JournalReader } from "./journal-format.ts";

const CHUNK_BYTES = 64 * 1024;
const OPEN_OR_CREATE: number = constants.O_RDWR | constants.O_CREAT;

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
 * missing; its folder must be there. Every batch of records is flushed to the disk before it counts.
 *
 * @param path Path of the file. Lock files are created beside it.
 * @throws ArgumentError if `path` is not a string that is not empty, or an option is not as described.
 * @throws JournalError if another run uses the file (`in_use`), or if it cannot be opened (`failed`).
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
  return withFile(path, OPEN_OR_CREATE, () => realpath(path));
}

class JournalFile implements FileJournal {
  readonly path: string;
  readonly #header: Uint8Array;
  #lock: FileLock | undefined;
  #handle: FileHandle | undefined;
  /** The end of what has been read and written; only a journal that has been loaded can be appended to. */
  #end: { size: number; checksum: number } | undefined;
  /** Loaded since it was opened. `RunJournal` sees to that within its copy of the package; this sees the other copy. */
  #isLoaded = false;

  constructor(path: string, header: Uint8Array) {
    this.path = path;
    this.#header = header;
  }

  async open(): Promise<void> {
    this.#lock = await FileLock.take(this.path);
    try {
      this.#handle = await open(this.path, OPEN_OR_CREATE, OWNER_ONLY);
      await restrictToOwner(this.#handle);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async *load(): AsyncGenerator<JournalRecord> {
    if (this.#isLoaded) throw new JournalError("another run uses this journal", { reason: "in_use" });
    if (this.#handle === undefined) await this.open();
    this.#isLoaded = true;
    const handle = this.#opened();
    const reader = new JournalReader(this.#header);
    const chunk = new Uint8Array(CHUNK_BYTES);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, length);
      if (bytesRead === 0) break;
      length += bytesRead;
      yield* reader.read(chunk.slice(0, bytesRead));
    }
    reader.end();
    try {
      await this.#lock?.confirm();
      await confirmUnchanged(handle, length);
    } catch (error) {
      await this.close(); // the caller does not: it takes the journal for that of another run
      throw error;
    }
    await handle.truncate(reader.size); // the torn end
    if (reader.size === 0) await this.#begin(handle);
    this.#end = { size: Math.max(reader.size, this.#header.length), checksum: reader.checksum };
  }

  async append(records: readonly JournalRecord[]): Promise<void> {
    if (this.#end === undefined) {
      throw new JournalError("the journal must be loaded before it is written to, and again after a failure", {
        reason: "misused",
      });
    }
    const { size, checksum: previous } = this.#end;
    const handle = this.#opened();
    const { bytes, checksum } = encodeLine(records, previous);
    this.#end = undefined; // until it is certain again
    await this.#lock?.confirm();
    await confirmUnchanged(handle, size);
    try {
      await writeAll(handle, bytes, size);
      await handle.datasync();
    } catch (error) {
      // After a failed flush it is not known what the file holds, so nothing more is appended.
      await this.#cutOff(handle, size);
      throw error;
    }
    // A request may follow only a line that every other run can read.
    await this.#lock?.confirm();
    this.#end = { size: size + bytes.length, checksum };
  }

  async close(): Promise<void> {
    const [handle, lock] = [this.#handle, this.#lock];
    this.#handle = undefined;
    this.#lock = undefined;
    this.#end = undefined;
    this.#isLoaded = false;
    try {
      await handle?.close();
    } finally {
      await lock?.release();
    }
  }

  #opened(): FileHandle {
    if (this.#handle === undefined) throw new JournalError("the journal is closed", { reason: "misused" });
    return this.#handle;
  }

  /** A new file: its name has to be durable as well. */
  async #begin(handle: FileHandle): Promise<void> {
    await writeAll(handle, this.#header, 0);
    await handle.sync();
    await flushFolder(dirname(this.path));
  }

  async #cutOff(handle: FileHandle, size: number): Promise<void> {
    try {
      await this.#lock?.confirm();
      await handle.truncate(size);
    } catch {
      // What is left is a torn end.
    }
  }
}

/** @throws JournalError if the file is not as long as it was left, is gone, or has another name beside its own. */
async function confirmUnchanged(handle: FileHandle, expected: number): Promise<void> {
  const { size, nlink } = await handle.stat();
  if (nlink > 1) {
    const message = `the journal file has ${nlink} hard links, and another run may use it by another one: delete all but one`;
    throw new JournalError(message, { reason: "misused" });
  }
  if (size === expected && nlink > 0) return;
  const what = nlink === 0 ? "has been deleted" : `has ${size} bytes, and had ${expected} when this run left it`;
  throw new JournalError(`the journal ${what}, so another run may use it`, { reason: "in_use" });
}
