import { copyFile, type FileHandle, open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** The mode of the files that are created: their owner alone may read them. */
export const OWNER_ONLY = 0o600;

/** Opens a file for as long as `work` takes. */
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

export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/** Makes durable which files a folder has. */
export async function flushFolder(path: string): Promise<void> {
  // Windows has no such thing, and needs none.
  await withFile(path, "r", (folder) => folder.sync()).catch(() => {});
}

/**
 * Puts a copy of a file in its place. A process that opened the file before goes on writing to the old one, which has no name
 * any more. `confirm` is called just before; the file stays as it is if that rejects, or if `copy` has been removed.
 */
export async function replaceByCopy(path: string, copy: string, confirm: () => Promise<void>): Promise<void> {
  await copyFile(path, copy);
  await withFile(copy, "r+", (file) => file.sync());
  await confirm();
  await rename(copy, path);
  await flushFolder(dirname(path));
}
