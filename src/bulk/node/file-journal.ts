import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ArgumentError } from "../../client/index.ts";
import { INVALID, parseOptions, parseValue, type Shape, strings, validator } from "../../core/checks/validators.ts";
import { textOfUrl } from "../../core/checks/values.ts";
import { asErrorClass } from "../../core/errors/as-error-class.ts";
import { withCallerStack } from "../../core/errors/caller-stack.ts";
import { JournalError } from "../../core/errors/journal-error.ts";
import type { Journal, JournalRecord } from "../journal.ts";
import { JournalFile } from "./journal-file.ts";
import { headerLine } from "./journal-format.ts";

/** A journal in a file. */
export interface FileJournal extends Journal {
  /** The path of the file, absolute. */
  readonly path: string;
  /** Closes the file, and lets other runs use it. A run does this at its end. */
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

const PATH = validator("a string that is not empty, or a URL that begins with file:", (value) => {
  const text = textOfUrl(value);
  if (typeof text !== "string" || text === "") return INVALID;
  if (text === value) return resolve(text);
  return text.startsWith("file:") ? fileURLToPath(text) : INVALID;
});

const OPTIONS = {
  id: strings("a string of 1 to 200 characters", (value) => value.length > 0 && value.length <= 200),
} satisfies Shape<FileJournalOptions>;

/**
 * Creates a journal in a file. It resolves a relative path now, and opens nothing: the run opens and locks the file when it
 * begins, and closes it at its end. The file is created if it is missing; its folder must be there. Every batch of records
 * is flushed to the disk before it counts. The file is its owner's alone, also a journal that was there before. Nothing
 * about any other file changes: neither content nor mode.
 *
 * The run rejects with a `JournalError` if another run uses the file (`in_use`), if it is no journal or no regular file
 * (`not_a_journal`), or if it cannot be opened (`failed`).
 *
 * @param path Path of the file, or its `file:` URL. Lock files are created beside it.
 * @throws ArgumentError if `path` or an option is not as described.
 *
 * @example
 * const journal = fileJournal(new URL("import.journal", import.meta.url)); // beside the program
 * await bulkWrite({ client, items, key, send, journal });
 */
export function fileJournal(path: string | URL, options?: FileJournalOptions): FileJournal {
  const read = () => {
    const absolute = parseValue(path, "path", PATH);
    const { id } = parseOptions(options, "options", OPTIONS);
    return new ReopenedFile(absolute, headerLine(id));
  };
  return withCallerStack(fileJournal, () => asErrorClass(ArgumentError, read));
}

class ReopenedFile implements FileJournal {
  readonly path: string;
  readonly #header: Uint8Array;
  #file: JournalFile | undefined;

  constructor(path: string, header: Uint8Array) {
    this.path = path;
    this.#header = header;
  }

  async *load(): AsyncGenerator<JournalRecord> {
    if (this.#file !== undefined) throw new JournalError("another run uses this journal", { reason: "in_use" });
    const file = new JournalFile(this.path, this.#header);
    this.#file = file;
    try {
      yield* file.load();
    } catch (error) {
      if (this.#file === file) this.#file = undefined;
      await file.close();
      throw error;
    }
  }

  async append(records: readonly JournalRecord[]): Promise<void> {
    if (this.#file === undefined) {
      throw new JournalError("the journal must be loaded before it is written to", { reason: "misused" });
    }
    await this.#file.append(records);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}
