/**
 * Rotates the token of a CI job, and never loses the new secret: the old token is dead as soon as the service answers, so
 * the answer goes to a file of mode 0600 before anything else. Says what to do after each outcome.
 *
 * Run it, with PROJECT_AUTOMATION_BASE_URL set (for `create` PROJECT_AUTOMATION_TOKEN too):
 *
 *   node examples/rotate-token-in-ci.ts create token.json   # once: a token for the job, with few scopes
 *   node examples/rotate-token-in-ci.ts rotate token.json   # a scheduled job, never two at once
 *   node examples/rotate-token-in-ci.ts work token.json     # or: a job whose token renews itself when it gets old
 *
 * With STORE_COMMAND, such as `vault kv put secret/ci token=-`, the record is then also given to that command's stdin.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type AutomationError, Client, type CreatedToken, isAutomationError, rotatingToken } from "project-automation";

const [command = "", file = ""] = process.argv.slice(2);
const draft = `${file}.new`;
const run = new Map(Object.entries({ create, rotate, work })).get(command);
if (run === undefined || file === "") {
  console.error("usage: node examples/rotate-token-in-ci.ts create|rotate|work FILE");
  process.exit(2);
}
try {
  await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (isAutomationError(error) && error.kind === "token_provider") console.error(String(error.cause));
  process.exitCode = 1;
}

async function create(): Promise<void> {
  const owner = new Client();
  await keep(() => owner.tokens.create({ name: "ci", scopes: ["projects:read"], expires_in_days: 7 }));
}

async function rotate(): Promise<void> {
  const { id, plaintext } = read();
  const client = new Client({ token: plaintext });
  await keep(() => client.tokens.rotate(id, { adopt: true }));
  await job(client); // it goes on with the new token
}

/** The variant for a job that does not rotate by itself: the call that finds the token within a day of its end does. */
async function work(): Promise<void> {
  const { id, plaintext, expires_at } = read();
  makeDraft();
  rmSync(draft); // it could be made, so it can be made again
  const token = rotatingToken({
    id,
    token: plaintext,
    expiresAt: expires_at,
    onRotated: store, // before the new token is used
    onRotationFailed: (error) => {
      console.error(explain(error)); // the job goes on with the token that it has
      process.exitCode = 1;
    },
  });
  await job(new Client({ token }));
}

async function job(client: Client): Promise<void> {
  console.log(`${(await client.projects.list().toArray()).length} projects`);
}

function read(): Pick<CreatedToken, "id" | "plaintext" | "expires_at"> {
  return JSON.parse(readFileSync(file, "utf8")) as ReturnType<typeof read>; // written by `store`
}

/** Asks for a token and stores it. */
async function keep(ask: () => Promise<CreatedToken>): Promise<void> {
  makeDraft();
  let stored: CreatedToken;
  try {
    stored = await ask();
  } catch (error) {
    rmSync(draft);
    throw new Error(explain(error), { cause: error });
  }
  store(stored);
}

/** Before a token is asked for: a folder that cannot be written to must not cost one. */
function makeDraft(): void {
  writeFileSync(draft, "", { mode: 0o600, flag: "wx" }); // "wx": a run that was cut off may have left its token there
}

function store({ id, plaintext, expires_at }: CreatedToken): void {
  const record = JSON.stringify({ id, plaintext, expires_at });
  try {
    writeFileSync(draft, record, { mode: 0o600, flush: true });
    renameSync(draft, file);
    console.log(`stored the new token in ${file}`);
  } finally {
    handOver(record); // also if the disk has just failed
  }
}

function handOver(record: string): void {
  const storeCommand = process.env["STORE_COMMAND"];
  if (storeCommand === undefined) return;
  const { status } = spawnSync(storeCommand, { shell: true, input: record, stdio: ["pipe", "ignore", "inherit"] });
  if (status === 0) return;
  console.error(`STORE_COMMAND failed: the new token is in ${file}, hand it over from there`);
  process.exitCode = 1;
}

/** What happened, and what to do. Saves what came of an answer that was not understood: the new secret may be in it. */
function explain(error: unknown): string {
  if (!isAutomationError(error)) return String(error);
  if (error.rawBody) writeFileSync(`${file}.raw`, error.rawBody, { mode: 0o600, flush: true });
  return `${error.message}\noutcome ${error.outcome}: ${adviceAfter(error)}`;
}

function adviceAfter({ kind, outcome, rawBody }: AutomationError): string {
  const another = "make a new one in the account settings, or with `create`";
  if (kind === "auth") return `the token is dead; ${another}`;
  switch (outcome) {
    case "rejected":
    case "not_sent":
      return "nothing has changed, the token is as good as before; run this again";
    case "accepted":
      if (rawBody) return `the old token is dead; look for id, plaintext and expires_at of the new one in ${file}.raw`;
      return `the old token is dead, and the new one did not arrive; ${another}`;
    default:
      return "the old token may be dead and the new one lost; run this again, and it says which";
  }
}
