/** A program that is stopped while a response is on its way. It prints what comes of its call, as one line of JSON. */

import { Client, isAutomationError, rotatingToken } from "project-automation";
import { type BulkSummary, bulkWrite, memoryJournal } from "project-automation/bulk";

const [, , work = "", baseUrl = "", timeout = ""] = process.argv;
const timeoutMs = Number(timeout);
const plaintext = "emu_K1_TheOldSecret";
const client = new Client({ baseUrl, token: plaintext, timeoutMs, retry: false });
const create = (title: string, on = client): Promise<unknown> => on.issues.create("web", { title, type: "bug" });

const WORK: Readonly<Record<string, () => Promise<unknown>>> = {
  create: () => create("one"),
  wait: () => client.sessions.waitFor("slow", { until: () => true, timeoutMs: false, totalTimeoutMs: timeoutMs }),
  bulk: (): Promise<BulkSummary> =>
    bulkWrite({
      client,
      items: Array.from({ length: 30 }, (_, index) => `item ${index}`),
      key: (title) => title,
      send: (bound, title) => create(title, bound),
      journal: memoryJournal(),
    }),
  rotation: async () => {
    const stored: string[] = [];
    const token = rotatingToken({
      token: { id: "tok_1", plaintext, expires_at: new Date(Date.now() + 60_000).toISOString() },
      onRotated: (replacement) => void stored.push(replacement.plaintext),
    });
    await new Client({ baseUrl, token, timeoutMs }).sessions.get("s");
    return { stored };
  },
};

const told = await WORK[work]?.().catch((error: unknown) =>
  isAutomationError(error) ? { kind: error.kind, outcome: error.outcome } : { thrown: String(error) },
);
console.log(JSON.stringify(told));
