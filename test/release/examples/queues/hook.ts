/**
 * Loaded into a worker of an example before its program (`--import`): its journals are watched, and the process waits, stops
 * or dies at the point that the test names. So the test decides by events, and by no clock.
 */
import { once } from "node:events";
import { registerHooks } from "node:module";
import { setImmediate } from "node:timers/promises";

/**
 * A place in the run of a row: its journal is loaded, and has nothing; its request is recorded and has yet to leave; the
 * request has left; its response has come.
 */
export type Point = "loaded" | "recorded" | "sent" | "answered";

/** What the test asks of a worker: to say that it is there, to wait for the word, and then to send itself the signal. */
export interface Order {
  readonly point: Point;
  readonly signal: "SIGKILL" | "SIGSTOP";
}

/** What a worker tells. `underWay`: the rows whose request was recorded, and not its end. */
export type Told =
  | { readonly type: "here"; readonly row: string; readonly underWay: readonly string[] }
  | { readonly type: "refused"; readonly row: string };

const underWay = new Set<string>();
let order: Order | undefined;
/** The whole worker waits there, so that it takes no more rows. */
let word: Promise<unknown> | undefined;

registerHooks({
  resolve(specifier, context, next) {
    const isStore = /\/(?:redis|postgres)-journal\.ts$/.test(specifier);
    const isWatched = isStore && context.parentURL?.includes("/import-with-");
    return next(isWatched ? new URL("./watched-store.ts", import.meta.url).href : specifier, context);
  },
});

process.on("message", (message: Order | "go") => {
  if (message !== "go") order = message;
});
process.channel?.unref();

export function tell(told: Told): void {
  process.send?.(told);
}

/**
 * The row is under way from now on: its request is being recorded. None begins while the worker waits, so what it has told is all
 * that a kill hits; also a row that a worker gives back as it is stopped, and whose next request is no first one.
 */
export async function begin(row: string): Promise<void> {
  while (word !== undefined) await word;
  underWay.add(row);
}

export function end(row: string): void {
  underWay.delete(row);
}

/** Resolves at once, or after what the test has ordered for this point. */
export async function reach(point: Point, row: string): Promise<void> {
  if (word !== undefined) return void (await word); // not of the rows that the worker holds now
  if (order?.point !== point) return;
  const { signal } = order;
  order = undefined;
  word = obey(signal, row);
  await word;
  word = undefined;
}

async function obey(signal: Order["signal"], row: string): Promise<void> {
  const go = once(process, "message");
  tell({ type: "here", row, underWay: [...underWay] });
  await go;
  const goesOn = signal === "SIGKILL" ? new Promise(() => {}) : once(process, "SIGCONT");
  process.kill(process.pid, signal);
  await goesOn;
}

const platformFetch = globalThis.fetch;
globalThis.fetch = async (url, init) => {
  const { title } = init?.method === "POST" ? (JSON.parse(String(init.body)) as { title?: string }) : {}; // the client's JSON
  const response = platformFetch(url, init);
  if (title === undefined) return response;
  response.catch(() => {}); // the client sees it below
  await setImmediate();
  await reach("sent", title);
  await response.catch(() => {});
  await reach("answered", title);
  return response;
};
