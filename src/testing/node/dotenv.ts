import { readFile, stat } from "node:fs/promises";
import { openOutput } from "../../command/output-file.ts";

/** Variables by their names. Their values need no quotes. */
export type Variables = Readonly<Record<string, string>>;

/** The lines `NAME=value` of variables. */
export function linesOf(variables: Variables, end: string = "\n"): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}${end}`)
    .join("");
}

/**
 * Sets variables in a file that `node --env-file` reads. Other lines stay as they are, and so does the mode of the file;
 * one that is made is its owner's alone. Rejects with an error that names the file.
 */
export async function setVariables(path: string, variables: Variables): Promise<void> {
  try {
    const text = Buffer.from(withVariables(await readText(path), variables));
    const file = await openOutput(path);
    try {
      // Cut off only at the end: a full disk then costs no line of the user's.
      await file.writeFile(text);
      await file.truncate(text.length);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new Error(`cannot write --dotenv ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The text of a file; empty if there is none. */
async function readText(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return "";
  if (!found.isFile()) throw new Error("it is no regular file");
  const text = new TextDecoder().decode(await readFile(path));
  // The shell of Windows writes UTF-16 for `>`.
  if (/[\0\ufffd]/.test(text)) throw new Error("it is no text in UTF-8; delete it, or name another file");
  return text;
}

/** A text in which variables are set by lines at its end, and nowhere before. */
function withVariables(text: string, variables: Variables): string {
  const names = Object.keys(variables).join("|");
  const earlier = new RegExp(`^[ \\t]*(?:export[ \\t]+)?(?:${names})[ \\t]*=.*(?:\\r?\\n|$)`, "gm");
  const kept = text.replaceAll(earlier, "");
  const end = kept.includes("\r\n") ? "\r\n" : "\n";
  const isEnded = kept === "" || kept.endsWith("\n");
  return `${kept}${isEnded ? "" : end}${linesOf(variables, end)}`;
}
