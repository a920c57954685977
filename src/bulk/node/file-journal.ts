import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { argument, STRING } from "../../check.ts";
import type { Journal, JournalRecord } from "../journal.ts";
import { asJournalError, JournalError } from "../journal-error.ts";
import { FileLock } from "./file-lock.ts";
import { encodeLine, HEADER_LINE, JournalReader } from "./journal-format.ts";

const CHUNK_BYTES = 64 * 1024;

/** A journal in a file. */
export interface FileJournal extends Journal {
  /** The path of the file, absolute and without symbolic links. */
  readonly path: string;
  /** Lets other runs use the file. A run does this at its end; call it for a journal that no run has used. */
  close(): Promise<void>;
}

/**
 * Opens a journal in a file, and keeps other runs from using it until the end of the run. The file is created if it is
 * missing; its folder must be there. Every batch of records is flushed to the disk before it counts.
 *
 * @param path Path of the file. Lock files are created beside it.
 * @throws ArgumentError if `path` is not a string that is not empty.
 * @throws JournalError if another run uses the file (`in_use`), or if it cannot be opened (`failed`).
 *
 * @example
 * const run = bulkWrite({ items, key, send, journal: await fileJournal("import.journal") });
 */
export async function fileJournal(path: string): Promise<FileJournal> {
  if (argument.value(path, "path", STRING) === "") argument.fail("path must not be an empty string");
  try {
    const journal = new JournalFile(await actualPath(path));
    await journal.open();
    return journal;
  } catch (error) {
    throw asJournalError(error, "be opened");
  }
}

/** Two paths of one file are one lock. */
async function actualPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // It is not there yet.
    const absolute = resolve(path);
    return join(await realpath(dirname(absolute)), basename(absolute));
  }
}

class JournalFile implements FileJournal {
  readonly path: string;
  #lock: FileLock | undefined;
  #handle: FileHandle | undefined;
  /** What has been read and written; only once it has been loaded, it can be appended to. */
  #end: { size: number; checksum: number } | undefined;
  #isLoading = false;

  constructor(path: string) {
    this.path = path;
  }

  async open(): Promise<void> {
    this.#lock = await FileLock.take(this.path);
    try {
      this.#handle = await open(this.path, constants.O_RDWR | constants.O_CREAT, 0o600);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async *load(): AsyncGenerator<JournalRecord> {
    if (this.#isLoading) throw new JournalError("another run uses this journal", { reason: "in_use" });
    this.#isLoading = true;
    if (this.#handle === undefined) await this.open();
    const handle = this.#opened();
    const reader = new JournalReader();
    const chunk = new Uint8Array(CHUNK_BYTES);
    for (let position = 0; ; ) {
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      yield* reader.read(chunk.slice(0, bytesRead));
    }
    reader.end();
    await handle.truncate(reader.size); // the torn end
    if (reader.size === 0) await this.#begin(handle);
    this.#end = { size: Math.max(reader.size, HEADER_LINE.length), checksum: reader.checksum };
  }

  async append(records: readonly JournalRecord[]): Promise<void> {
    if (this.#end === undefined) throw new JournalError("a journal must be loaded first", { reason: "misused" });
    const { size, checksum: previous } = this.#end;
    const handle = this.#opened();
    await this.#lock?.confirm();
    const { bytes, checksum } = encodeLine(records, previous);
    try {
      await writeAll(handle, bytes, size);
      await handle.datasync();
    } catch (error) {
      // After a failed flush nothing is certain of what has been written, so nothing may follow it.
      this.#end = undefined;
      await handle.truncate(size).catch(() => {}); // what is left is a torn end
      throw error;
    }
    this.#end = { size: size + bytes.length, checksum };
  }

  async close(): Promise<void> {
    const [handle, lock] = [this.#handle, this.#lock];
    this.#handle = undefined;
    this.#lock = undefined;
    this.#end = undefined;
    this.#isLoading = false;
    await handle?.close();
    await lock?.release();
  }

  #opened(): FileHandle {
    if (this.#handle === undefined) throw new JournalError("the journal is closed", { reason: "misused" });
    return this.#handle;
  }

  /** A new file: its name has to be durable as well. */
  async #begin(handle: FileHandle): Promise<void> {
    await writeAll(handle, HEADER_LINE, 0);
    await handle.sync();
    await flushFolder(dirname(this.path));
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

async function flushFolder(path: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, "r");
    await handle.sync();
  } catch {
    // Windows has no such thing, and needs none.
  } finally {
    await handle?.close();
  }
}
