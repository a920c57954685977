/**
 * Every kind of error, and what to do on each: one exhaustive `switch`. A kind that is added one day is a type error here.
 * The program provokes them one by one, with an emulator of the service that it starts, and prints the advice.
 *
 * Run it: node examples/error-handling.ts
 */
import { type AnyAutomationError, Client, isAutomationError } from "project-automation";
import { bulkWrite, memoryJournal } from "project-automation/bulk";
import { fileJournal } from "project-automation/bulk/node";
import type { Fault } from "project-automation/testing";
import { startEmulator } from "project-automation/testing/node";

function adviceFor(error: AnyAutomationError): string {
  switch (error.kind) {
    case "config":
    case "argument":
      return "fix the program: the message names the option or the argument";
    case "bad_request":
      return `fix what is sent: ${JSON.stringify(error.body)}`;
    case "auth":
      return "get another token: this one is unknown, revoked or expired";
    case "permission":
      return "get a token with the scope that the message names, or ask the owner for the permission";
    case "not_found":
      return "check the name: it is not there, or not for this token";
    case "conflict":
      return "read the present state, then decide anew";
    case "rate_limit":
      return `come back in ${error.retryAfterMs} ms: the client has waited as often and as long as it may`;
    case "server":
      return `try later; ${afterwards(error)}`;
    case "api":
      return `look up status ${error.status} in the service's documentation`;
    case "redirect":
      return `correct baseUrl: the redirect leads to ${error.location}, and the token must not travel`;
    case "connection":
      return `check network and address (${error.platformCode}); ${afterwards(error)}`;
    case "timeout":
      return `allow more time, or find out why it is slow (${error.phase}); ${afterwards(error)}`;
    case "abort":
      return `you have stopped it; ${afterwards(error)}`;
    case "parse":
    case "validation":
      return `report it: the answer was a success, but not as expected; its text is in rawBody; ${afterwards(error)}`;
    case "pagination":
      return "report it: the service repeats a cursor, or sends no items; the items so far are good";
    case "token_provider":
      return `see to the token provider: ${String(error.cause)}`;
    case "journal":
      return `see to the journal (${error.reason}): nothing is sent without it`;
    case "bulk":
      return `start the import again: ${error.message}`;
    case "send":
      return `mend what follows the write of ${error.key}, and start the import again`;
    default:
      return error satisfies never;
  }
}

/** You may always repeat a read. For a write, `outcome` says whether it was applied. */
function afterwards(error: AnyAutomationError): string {
  if (error.method === "GET") return "it was a read, so it can be repeated";
  switch (error.outcome) {
    case "not_sent":
    case "rejected":
      return "it was not applied, so it can be repeated";
    case "accepted":
      return "it was applied, so it must not be repeated";
    default:
      return "it may have been applied: look before repeating it";
  }
}

const service = await startEmulator();
const client = new Client({ baseUrl: service.baseUrl, token: service.token, retry: false });
const read = () => client.projects.list().toArray();
const write = () => client.issues.create("web", { title: "It breaks", type: "bug" });
const importIssue = async ({ journal = memoryJournal(), followUp = async () => {} } = {}) => {
  await bulkWrite({
    client,
    items: ["It breaks"],
    key: (title) => title,
    send: async (client, title) => {
      await client.issues.create("web", { title, type: "bug" });
      await followUp();
    },
    journal,
  });
};
/** The same call, with something going wrong once. */
const faulty = (fault: Fault, call: () => Promise<unknown>) => async () => {
  const scripted = service.emulator.fault(fault);
  try {
    await call();
  } finally {
    scripted.remove(); // a call that timed out on its way has not met it
  }
};

const provocations: readonly (() => unknown)[] = [
  () => new Client({ baseUrl: "automation.example.com" }),
  () => client.issues.create("", { title: "It breaks", type: "bug" }),
  () => client.issues.create("web", { title: "", type: "bug" }),
  () => client.withOptions({ token: "emu_unknown_token" }).projects.list().toArray(),
  () =>
    client
      .withOptions({ token: service.emulator.createToken({ scopes: ["issues:read"] }).plaintext })
      .sessions.get("1"),
  () => client.sessions.get("no-such-session"),
  faulty({ status: 409 }, write),
  faulty({ status: 500 }, write),
  faulty({ status: 418 }, write),
  faulty({ status: 302, headers: { location: "https://login.example.com/" } }, read),
  faulty({ drop: "after" }, write),
  faulty({ delayMs: Number.POSITIVE_INFINITY }, () => client.sessions.get("1", { timeoutMs: 1_000 })),
  () => client.sessions.get("1", { signal: AbortSignal.abort() }),
  faulty({ status: 201, body: "<html>" }, write),
  faulty({ transform: () => ({ number: "one" }) }, write),
  faulty({ page: "loop", times: 2 }, read),
  () => client.withOptions({ token: () => Promise.reject(new Error("the vault is sealed")) }).sessions.get("1"),
  () => importIssue({ journal: fileJournal("no-such-folder/import.journal") }),
  faulty({ operation: "issues.create", status: 422 }, () => importIssue()),
  () => importIssue({ followUp: () => Promise.reject(new Error("the index is down")) }),
  // The last one: from here on the token pauses, for every call.
  faulty({ status: 429, headers: { "retry-after": "2" } }, read),
];

try {
  for (const provoke of provocations) {
    try {
      await provoke();
    } catch (error) {
      if (!isAutomationError(error)) throw error;
      console.log(`${error.kind}: ${error.message}\n    ${adviceFor(error)}`);
    }
  }
} finally {
  await service.close();
}
