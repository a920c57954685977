import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";

interface Place {
  readonly file: string;
  readonly start: { readonly line: number; readonly offset: number };
}

/** A program below a folder that has the package, and the names in it whose definitions are asked for. */
export interface Question {
  readonly folder: string;
  readonly program: string;
  readonly names: readonly string[];
}

/** Where *Go to definition* leads from the last place of each name in a program: the file, and the text there. */
export async function definitionsOf({ folder, program, names }: Question): Promise<Record<string, string[]>> {
  const file = join(folder, "editor.mts");
  writeFileSync(file, program);
  const server = spawn(process.execPath, [createRequire(import.meta.url).resolve("typescript/lib/tsserver.js")], {
    cwd: folder,
  });
  try {
    const ask = (seq: number, command: string, values: object): void => {
      server.stdin.write(`${JSON.stringify({ seq, type: "request", command, arguments: { file, ...values } })}\n`);
    };
    ask(0, "open", { fileContent: program });
    for (const [index, name] of names.entries()) ask(index + 1, "definition", placeOf(name, program));
    const found: Record<string, string[]> = {};
    for await (const line of createInterface({ input: server.stdout })) {
      const { request_seq: seq, body } = readAnswer(line);
      const name = names[(seq ?? 0) - 1];
      if (name === undefined) continue;
      found[name] = (body ?? []).map(
        (place) => `${relative(folder, place.file).replaceAll("\\", "/")}: ${textAt(place)}`,
      );
      if (Object.keys(found).length === names.length) break;
    }
    return found;
  } finally {
    server.kill();
  }
}

function readAnswer(line: string): { request_seq?: number; body?: readonly Place[] } {
  if (!line.startsWith("{")) return {};
  const message = JSON.parse(line) as { type: string; request_seq?: number; body?: readonly Place[] }; // of the server
  return message.type === "response" ? message : {};
}

function placeOf(name: string, program: string): { line: number; offset: number } {
  const before = program.slice(0, program.lastIndexOf(name)).split("\n");
  return { line: before.length, offset: (before.at(-1)?.length ?? 0) + 1 };
}

/** The beginning of a definition, up to what opens behind its name. */
function textAt({ file, start }: Place): string {
  const lines = readFileSync(file, "utf8").split("\n");
  const line = (lines[start.line - 1] ?? "").trim();
  return line.replace(/(?::(?! \w+;)|[<({;=]).*/, "").trim();
}
