import { fstatSync, ftruncateSync, readSync, truncateSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { hasCode } from "../../core/checks/values.ts";
import { after } from "../../core/time/clock.ts";
import { flush, OWNER_ONLY } from "../../files/regular-file.ts";

const IS_WINDOWS = process.platform === "win32";

const OTHERS = 0o077;

/** Errors of file systems whose folders cannot be flushed, such as those of FUSE. */
const CANNOT_FLUSH: readonly string[] = ["EINVAL", "ENOSYS", "ENOTSUP", "EBADF"];
/** Errors of Windows about a file that another program has open. */
const HELD_OPEN: readonly string[] = ["EPERM", "EACCES", "EBUSY"];
const REMOVE_ATTEMPTS = 10;
const REMOVE_PAUSE_MS = 20;

export async function withFile<Result>(
  path: string,
  flags: string | number,
  work: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const file = await open(path, flags, OWNER_ONLY);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** Takes the rights of all others from a file of ours: it may have been there before, with other rights. */
export async function restrictToOwner(file: FileHandle): Promise<void> {
  if (IS_WINDOWS) return; // a mode says nothing there: the folder's access list decides
  const { mode } = await file.stat();
  // A file system without modes, such as FAT, refuses; a file of another owner is left to that one.
  if ((mode & OTHERS) !== 0) await file.chmod(OWNER_ONLY).catch(() => {});
}

/** Bytes that may stand in a file behind its first `from` ones. */
export interface Ending {
  readonly path: string;
  readonly from: number;
  readonly bytes: Uint8Array;
}

/**
 * Cuts bytes, or the first part of them, off the end of a file. Returns `false` if other bytes follow them: then nothing is
 * cut. It looks and cuts in one turn, since another process may append at any moment.
 */
export function cutEnd(file: FileHandle, { path, from, bytes }: Ending): boolean {
  const { size } = fstatSync(file.fd);
  if (size <= from) return true;
  const end = new Uint8Array(Math.min(bytes.length, size - from));
  readSync(file.fd, end, 0, end.length, size - end.length);
  if (Buffer.compare(end, bytes.subarray(0, end.length)) !== 0) return false;
  // Windows cuts no file that was opened to append. There the path of an open file stays until it is closed.
  if (IS_WINDOWS) truncateSync(path, size - end.length);
  else ftruncateSync(file.fd, size - end.length);
  return true;
}

export async function flushFolder(path: string): Promise<void> {
  if (IS_WINDOWS) return; // a folder cannot be opened as a file there, and NTFS journals its entries
  await withFile(path, "r", (folder) => flush(folder, "sync")).catch((error: unknown) => {
    if (!hasCode(error, ...CANNOT_FLUSH)) throw error;
  });
}

/** On Windows another program, such as a virus scanner, may have it open for a moment. */
export async function removeFile(path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await rm(path, { force: true });
      return;
    } catch (error) {
      if (attempt === REMOVE_ATTEMPTS || !hasCode(error, ...HELD_OPEN)) throw error;
      await pause(REMOVE_PAUSE_MS);
    }
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void after(ms, resolve));
}
