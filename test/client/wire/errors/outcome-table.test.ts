/** The table of docs/errors.md: the outcome of a write, row by row, as a call and as an item of a bulk write. */
import { expect, test } from "vitest";
import { bulkWrite, memoryJournal } from "../../../../src/bulk/index.ts";
import { type Client, isAutomationError } from "../../../../src/client/index.ts";
import { ended, fakeTime } from "../../../support/fake-time.ts";
import { type Incident, OUTCOMES } from "../../../support/outcome-table.ts";
import { bodyThat, good, never, neverConnects, type Reply, status, throws } from "../../../support/replies.ts";
import { type ScriptedFetch, scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const TIMEOUT_MS = 1_000;

function replyTo(incident: Incident): Reply {
  if ("rejection" in incident) return throws(incident.rejection);
  if ("connecting" in incident) return neverConnects(incident.connecting);
  if ("never" in incident) return never;
  if ("first" in incident) return bodyThat(incident.body, incident.first, incident.status);
  const { status: code, body = "", url } = incident;
  return () => Object.defineProperty(status(code, {}, body), "url", { value: url ?? "" });
}

const create = (incident: Incident, client: Client): Promise<unknown> => {
  const isAborted = "never" in incident && incident.never === "abort";
  const options = isAborted ? { signal: soonAborted() } : {};
  return client.issues.create("web", { title: "One", type: "bug" }, options);
};

function soonAborted(): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 100);
  return controller.signal;
}

const clientOf = (service: ScriptedFetch): Client => service.client({ retry: false, timeoutMs: TIMEOUT_MS });
const cases = OUTCOMES.flatMap((row) => row.incidents.map((incident) => [row.happened, incident, row] as const));

test.each(cases)("%s: %j", async (_, incident, { outcome, state }) => {
  const service = scriptedFetch(replyTo(incident));
  const { error } = await ended(create(incident, clientOf(service)));
  if (!isAutomationError(error)) throw error;
  expect(error).toMatchObject({ outcome, attempts: 1 });

  const run = bulkWrite({
    client: clientOf(scriptedFetch(good, replyTo(incident))), // a run reads first
    items: ["A-1"],
    key: (id) => id,
    send: (client) => create(incident, client),
    journal: memoryJournal(),
  });
  await ended(run);
  expect(run.summary).toMatchObject({ done: 0, refused: 0, not_sent: 0, unknown: 0, [state]: 1 });
});

test("no incident stands in two rows", () => {
  const incidents = OUTCOMES.flatMap((row) => row.incidents.filter((incident) => "status" in incident));
  const written = incidents.map((incident) => JSON.stringify(incident));
  expect(new Set(written).size).toBe(written.length);
});
