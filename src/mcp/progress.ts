import type { ServerContext } from "@modelcontextprotocol/server";
import { after } from "../core/time/clock.ts";

const EVERY_MS = 1_000;

/**
 * Notifies the host about once a second of what a call waits for, if the host has asked for it. `describe` says it in
 * words, and returns `undefined` while there is nothing to wait for. Returns what ends it.
 */
export function notifyProgress({ mcpReq }: ServerContext, describe: () => string | undefined): () => void {
  const progressToken = mcpReq["_meta"]?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  let cancel = after(EVERY_MS, tick);
  function tick(): void {
    cancel = after(EVERY_MS, tick);
    const message = describe();
    if (message === undefined) return;
    progress += 1;
    // A host that is gone needs no progress.
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } }).catch(() => {});
  }
  return () => cancel();
}
