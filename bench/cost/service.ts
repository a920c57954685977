/** The server's process, from the side of a measure. */

import { Part } from "../support/part.ts";
import type { Listening, ServerTask } from "./server.ts";

const STARTING_MS = 15_000;

/** Runs the server while something is done with it. */
export async function withService<Result>(task: ServerTask, use: (origin: string) => Promise<Result>): Promise<Result> {
  const server = new Part(new URL("server.ts", import.meta.url), task);
  try {
    return await use((await server.next<Listening>(STARTING_MS)).origin);
  } finally {
    await server.stop();
  }
}
