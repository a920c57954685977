import { isUtf8 } from "node:buffer";
import { constants, fdatasync, fsync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { hasCode } from "../core/checks/values.ts";

/** The mode of the files that are created: their owner alone may read them. */
export const OWNER_ONLY = 0o600;

/** A file that may be another's: it can be read, and nothing about it changes until it is {@link recognised}. */
export type FoundFile = Pick<FileHandle, "read" | "readFile" | "stat" | "close">;

/** A path that leads to what is no regular file, such as a folder, a device or a FIFO. */
export class NotRegularFile extends Error {
  constructor() {
    super("it is no regular file; the file is left as it is: name another file");
  }
}

/**
 * Opens the file that a path leads to; one that is missing is created, for its owner alone. `flags` are added, such as
 * `O_APPEND`.
 *
 * @throws NotRegularFile for anything else. It is not opened: that may block, or move a device.
 */
export async function findOrCreateFile(path: string, flags = 0): Promise<FoundFile> {
  const found = await stat(path).catch((error: unknown) => {
    if (!hasCode(error, "ENOENT")) throw error;
  });
  if (found !== undefined && !found.isFile()) throw new NotRegularFile();
  // O_CREAT only where nothing is there: Linux refuses it for the file of another user in a shared folder.
  return open(path, constants.O_RDWR | (found === undefined ? constants.O_CREAT : 0) | flags, OWNER_ONLY);
}

/**
 * The same file, to be changed. For a caller that has read it: it is empty or new, or its content is what this package
 * writes there. Content, length and mode of any other file stay as they are.
 */
export function recognised(file: FoundFile): FileHandle {
  return file as FileHandle; // it was opened as one
}

/** Writes bytes, all of them: at a position, or behind what was written before. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position?: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const at = position === undefined ? null : position + written;
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, at);
    written += bytesWritten;
  }
}

const BY_NUMBER = { datasync: promisify(fdatasync), sync: promisify(fsync) };

/**
 * Makes durable what a file or a folder holds. A handle of Yarn's Plug'n'Play throws at once, since it has neither method: then it
 * is flushed by its number. Not always by that: Node 22 and 24 refuse it under `--permission`.
 */
export async function flush(file: FileHandle, how: keyof typeof BY_NUMBER = "datasync"): Promise<void> {
  let flushed: Promise<void>;
  try {
    flushed = file[how]();
  } catch {
    flushed = BY_NUMBER[how](file.fd);
  }
  await flushed; // a flush that failed is not tried again: the second one would say that all is well
}

/** The text of a file; `advice` says what to do about one that has another encoding. */
export function textOf(bytes: Buffer, advice: string): string {
  // The shell of Windows writes UTF-16 for `>`.
  if (!isUtf8(bytes) || bytes.includes(0)) throw new Error(`it is no text in UTF-8${advice}`);
  return bytes.toString();
}
