import type { FileHandle } from "node:fs/promises";
import { isError } from "../../core/checks/values.ts";
import { findFile, findOrCreateFile, flush, recognised, textOf, writeAll } from "../../files/regular-file.ts";
import { type Variables, withVariables } from "./dotenv-text.ts";

const ADVICE = "; delete it, or name another file";

const SAMPLE: Variables = { PROJECT_AUTOMATION_BASE_URL: "http://127.0.0.1", PROJECT_AUTOMATION_TOKEN: "emu_0" };

/** Rejects with an error that names the file if the two variables cannot be set in it. Nothing about it changes. */
export function checkDotenv(path: string): Promise<void> {
  return naming(path, async () => {
    const file = await findFile(path);
    if (file === undefined) return;
    try {
      withVariables(textOf(await file.readFile(), ADVICE), SAMPLE);
    } finally {
      await file.close();
    }
  });
}

/** Sets the two variables in a file. One that is made is its owner's alone. Rejects with an error that names the file. */
export function writeDotenv(path: string, variables: Variables): Promise<void> {
  return naming(path, async () => {
    const file = await findOrCreateFile(path);
    try {
      const before = await file.readFile();
      const after = Buffer.from(withVariables(textOf(before, ADVICE), variables));
      await replaceContent(recognised(file), before, after);
    } finally {
      await file.close();
    }
  });
}

async function naming(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new Error(`cannot write --dotenv ${path}: ${isError(error) ? error.message : String(error)}`);
  }
}

/** In its place, so that links and the mode stay. A full disk costs nothing of what was there. */
async function replaceContent(file: FileHandle, before: Uint8Array, after: Uint8Array): Promise<void> {
  const { length } = before;
  const same = before.findIndex((byte, at) => byte !== after[at]);
  try {
    // The part that makes the file longer comes first: if that fails, the rest has not changed.
    await writeAll(file, after.subarray(length), length);
    if (same >= 0) await writeAll(file, after.subarray(same, length), same);
    await file.truncate(after.length);
    await flush(file);
  } catch (error) {
    await writeAll(file, before, 0).catch(() => {});
    await file.truncate(length);
    throw error;
  }
}
