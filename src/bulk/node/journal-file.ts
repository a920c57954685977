import { type FileHandle, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { JournalError } from "../../client/errors/journal-error.ts";
import { type FoundFile, findOrCreateFile, NotRegularFile, recognised, writeAll } from "../../files/regular-file.ts";
import type { JournalRecord } from "../journal.ts";
import { asJournalError } from "../thrown.ts";
import { flushFolder, restrictToOwner } from "./durable-file.ts";
import { FileLock, wasUsed } from "./file-lock.ts";
import { checkBeginning, encodeLine, JournalReader, MAX_HEADER_LENGTH } from "./journal-format.ts";

const CHUNK_BYTES = 64 * 1024;

/** The file of a journal while one run uses it: loaded once, then written to, then closed. */
export class JournalFile {
  readonly #path: string;
  readonly #header: Uint8Array;
  #lock: FileLock | undefined;
  #found: FoundFile | undefined;
  /** The file once all of it has been recognised, and the end of what has been read and written. */
  #own: { readonly file: FileHandle; readonly size: number; readonly checksum: number } | undefined;
  #isClosed = false;

  constructor(path: string, header: Uint8Array) {
    this.#path = path;
    this.#header = header;
  }

  /** Opens and locks the file, and returns its records. */
  async *load(): AsyncGenerator<JournalRecord> {
    const { found, path } = await this.#open().catch((error: unknown) => {
      throw asJournalError(error, "be opened");
    });
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
    await this.#lock?.confirm();
    await confirmUnchanged(found, length);
    const file = recognised(found);
    await restrictToOwner(file);
    await file.truncate(reader.size); // the torn end
    if (reader.size === 0) await this.#begin(file, path);
    this.#own = { file, size: Math.max(reader.size, this.#header.length), checksum: reader.checksum };
  }

  /** Resolves when the records are durable. After a rejection the file is to be closed. */
  async append(records: readonly JournalRecord[]): Promise<void> {
    if (this.#own === undefined) {
      const message = "the journal must be loaded before it is written to, and again after a failure";
      throw new JournalError(message, { reason: "misused" });
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

  /** Lets other runs use the file, also where it is being opened now. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#own = undefined;
    const [found, lock] = [this.#found, this.#lock];
    this.#found = undefined;
    this.#lock = undefined;
    try {
      await found?.close();
    } finally {
      await lock?.release();
    }
  }

  async #open(): Promise<{ readonly found: FoundFile; readonly path: string }> {
    // Two paths of one file are one lock. The file is there for that: a link may lead to one that is not there yet.
    await (await findJournal(this.#path)).close();
    const path = await realpath(this.#path);
    await checkFile(path, this.#header);
    this.#lock = await FileLock.take(path);
    const found = await findJournal(path);
    this.#found = found;
    if (this.#isClosed) {
      await this.close();
      throw new JournalError("the journal was closed while it was being opened", { reason: "failed" });
    }
    return { found, path };
  }

  /** A new file: its name has to be durable as well. */
  async #begin(file: FileHandle, path: string): Promise<void> {
    await this.#write(file, this.#header, 0);
    await flushFolder(dirname(path));
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
