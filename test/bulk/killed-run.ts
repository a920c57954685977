/**
 * A run in a process of its own, which ends itself with SIGKILL where its task says, or is killed from outside. Its task
 * is its first argument, as JSON.
 */
import { type FileHandle, open } from "node:fs/promises";
import { bulkWrite } from "../../src/bulk/index.ts";
import { fileJournal } from "../../src/bulk/node.ts";
import { Client } from "../../src/client/index.ts";
import { key, rowsOf, runToEnd, send } from "./rows.ts";

/** A place in a run: around the writes and flushes of the journal's file, and around requests. */
export type Boundary =
  | "before write"
  | "in write"
  | "after write"
  | "after flush"
  | "before request"
  | "after response";

export interface Task {
  readonly baseUrl: string;
  readonly token: string;
  readonly path: string;
  readonly rows: number;
  readonly concurrency: number;
  readonly maxConcurrency: number;
  readonly timeoutMs: number;
  /** Where it kills itself, if it gets there: at the so-manyth time. */
  readonly kill?: { readonly boundary: Boundary; readonly time: number };
}

if (process.argv[2]?.startsWith("{")) await main(JSON.parse(process.argv[2]) as Task); // written by the test

async function main({ baseUrl, token, path, rows, concurrency, maxConcurrency, timeoutMs, kill }: Task): Promise<void> {
  const times = new Map<Boundary, number>();
  const reach = (boundary: Boundary): boolean => {
    const time = (times.get(boundary) ?? 0) + 1;
    times.set(boundary, time);
    return kill?.boundary === boundary && kill.time === time;
  };
  const die = async (): Promise<never> => {
    process.kill(process.pid, "SIGKILL");
    return new Promise(() => {});
  };
  const journal = fileJournal(path);
  await watchFiles(reach, die);
  const client = new Client({
    baseUrl,
    token,
    maxConcurrency,
    timeoutMs,
    retry: { minDelayMs: 1 },
    fetch: async (url, init) => {
      if (reach("before request")) await die();
      const response = await fetch(url, init);
      if (reach("after response")) await die();
      return response;
    },
  });
  process.stdout.write("begun\n");
  // On a slow machine no row may get through, and an awaited run would reject for that.
  const { error } = await runToEnd(bulkWrite({ items: rowsOf(rows), key, client, send, journal, concurrency }));
  if (error !== undefined) throw error;
}

/** How the journal writes. */
type Piece = [bytes: Uint8Array, offset: number, length: number, position: number];

/** Looks at every write and flush of a file from now on. */
async function watchFiles(reach: (boundary: Boundary) => boolean, die: () => Promise<never>): Promise<void> {
  const handle = await open(process.execPath);
  const files = Object.getPrototypeOf(handle) as Pick<FileHandle, "write" | "datasync">;
  await handle.close();
  const { write, datasync } = files;
  files.write = async function (this: FileHandle, ...args: Piece) {
    const [bytes, offset, length, position] = args;
    if (reach("before write")) await die();
    if (reach("in write")) {
      await Reflect.apply(write, this, [bytes, offset, Math.floor(length / 2), position]);
      await die();
    }
    const written: unknown = await Reflect.apply(write, this, args);
    if (reach("after write")) await die();
    return written;
  } as typeof write;
  files.datasync = async function (this: FileHandle) {
    await datasync.call(this);
    if (reach("after flush")) await die();
  };
}
