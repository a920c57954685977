import { constants, fstatSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { OWNER_ONLY } from "../files/regular-file.ts";
import type { Terminal } from "./command.ts";

/** Opens a file to be written from its beginning. It is not emptied; one that is made is its owner's alone. */
async function openOutput(path: string): Promise<FileHandle> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  // Without O_CREAT where there is something: Linux refuses it for the FIFO of another user.
  return open(path, isThere ? constants.O_WRONLY : constants.O_WRONLY | constants.O_CREAT, OWNER_ONLY);
}

/**
 * Writes a result to where the user wants it. A regular file then holds that alone, and is its owner's alone. Anything
 * else, such as a device or a FIFO, is written to as it is, and so is the program's own standard output or error.
 */
export async function writeOutput(path: string, text: string, terminal: Pick<Terminal, "out" | "err">): Promise<void> {
  const own = await ownStream(path);
  if (own !== undefined) return terminal[own](text);
  const file = await openOutput(path);
  try {
    if ((await file.stat()).isFile()) {
      await file.chmod(OWNER_ONLY);
      await file.truncate();
    }
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

const STREAMS = { out: 1, err: 2 } as const;

/**
 * The stream of this program that a path leads to, as `/dev/stdout` does, or the name of the file that the shell has
 * opened for it. Opened a second time, it would be written from its beginning.
 */
async function ownStream(path: string): Promise<keyof typeof STREAMS | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  // Windows numbers files alone.
  if (found === undefined || found.ino === 0n) return undefined;
  return (["out", "err"] as const).find((name) => {
    try {
      const { dev, ino } = fstatSync(STREAMS[name], { bigint: true });
      return dev === found.dev && ino === found.ino;
    } catch {
      // The stream was closed by what started the program.
      return false;
    }
  });
}
