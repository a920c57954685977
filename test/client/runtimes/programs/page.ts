/** The suite in a page, and a worker of it that runs it too; `?page=…&worker=…` holds their settings. */
import type { Copy } from "../conformance/bench.ts";
import { openDoors, runInBrowser } from "./browser.ts";
import type { Settings } from "./run.ts";

declare global {
  /** Set by the frame, whose copy of the package is of a realm of its own. */
  var copyOfThisRealm: Promise<Copy["pkg"]> | undefined;
  /** What comes of a call, in words; for the harness, which may have cut the network meanwhile. */
  var tellOfCall: (baseUrl: string) => Promise<object>;
}

const settings = (name: string): Settings =>
  JSON.parse(new URLSearchParams(location.search).get(name) ?? "") as Settings; // the harness wrote it

/** The worker has reported, and its last word has come. */
function workerIsDone(): Promise<string> {
  const worker = new Worker("/site/worker.js", { type: "module" });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<unknown>) => resolve(String(data));
    worker.onmessageerror = () => reject(new Error("the worker's error could not be read"));
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(settings("worker"));
  });
}

async function copyInFrame(): Promise<Copy> {
  const frame = document.createElement("iframe");
  frame.src = "/site/frame.html";
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
  document.body.append(frame);
  await loaded; // its script has begun by then
  const pkg = await (frame.contentWindow as typeof globalThis | null)?.copyOfThisRealm;
  if (pkg === undefined) throw new Error("the frame has no copy");
  return { name: "the frame's copy", pkg };
}

globalThis.tellOfCall = async (baseUrl) => {
  const { pkg } = await openDoors();
  const client = new pkg.Client({ baseUrl, token: "emu_K1_secret", retry: { minDelayMs: 1, maxDelayMs: 1 } });
  const error: unknown = await client.sessions.get("any").catch((reason: unknown) => reason);
  if (!pkg.isAutomationError(error)) return { error: String(error) };
  const { kind, outcome, attempts } = error;
  return { kind, outcome, attempts };
};

await runInBrowser(settings("page"), async () => {
  const lastWord = await workerIsDone();
  if (!lastWord.includes("aborted by the caller")) throw new Error(`the worker posted ${lastWord}`);
  return [await copyInFrame()];
});
