import { isDeepStrictEqual, parseEnv } from "node:util";
import { isError } from "../../core/checks/values.ts";
import { findOrCreateFile, recognised, textOf, writeAll } from "../../files/regular-file.ts";
import { linesOf, type Variables } from "./variables.ts";

/** The values that the emulator writes itself. */
const WRITTEN: Readonly<Record<keyof Variables, string>> = {
  PROJECT_AUTOMATION_BASE_URL: String.raw`http://(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:/[^\s?#]*)?`,
  PROJECT_AUTOMATION_TOKEN: String.raw`emu_[\w-]+`,
};

const LEFT_AS_IT_IS = "; the file is left as it is: name another file";

/** Sets the two variables in a file. One that is made is its owner's alone. Rejects with an error that names the file. */
export async function writeDotenv(path: string, variables: Variables): Promise<void> {
  try {
    const file = await findOrCreateFile(path);
    try {
      const before = await file.readFile();
      const after = Buffer.from(withVariables(textOf(before, "; delete it, or name another file"), variables));
      const own = recognised(file);
      // The part that makes the file longer comes first: if the disk is full, the rest has not changed.
      await writeAll(own, after.subarray(before.length), before.length);
      await writeAll(own, after, 0); // in its place, so that links and the mode stay
      await own.truncate(after.length);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new Error(`cannot write --dotenv ${path}: ${isError(error) ? error.message : String(error)}`);
  }
}

/**
 * Sets the two variables in the text of a file for `node --env-file`. A line that the emulator wrote itself is replaced, and every
 * other one stays. The parser of Node confirms it.
 *
 * @throws Error if one of the two has another value, or if there is no place for a line
 */
export function withVariables(text: string, variables: Variables): string {
  const before = parseEnv(text);
  const foreign = Object.entries(WRITTEN).filter(
    ([name, own]) => !new RegExp(`^(?:${own})?$`).test(before[name] ?? ""),
  );
  if (foreign.length > 0) {
    const names = foreign.map(([name]) => name).join(" and ");
    throw new Error(`it has a value of ${names} that the emulator did not write${LEFT_AS_IT_IS}`);
  }
  const after = Object.entries(variables).reduce((edited, [name, value]) => {
    const line = new RegExp(`^${name}=(?:${WRITTEN[name as keyof Variables]})?$`, "gm"); // it has no others
    if (line.test(edited)) return edited.replace(line, `${name}=${value}`);
    return `${edited}${edited === "" || edited.endsWith("\n") ? "" : "\n"}${linesOf({ [name]: value })}`;
  }, text);
  // An open quote or a blank value at the end takes the next line into itself.
  if (!isDeepStrictEqual({ ...before, ...variables }, { ...parseEnv(after) })) {
    throw new Error(`it has no place for another line${LEFT_AS_IT_IS}`);
  }
  return after;
}
