/**
 * Rotates the token of a CI job and never loses the new secret: the old token is revoked as soon as the service responds,
 * so the new one goes to a file of mode 0600 before anything else. Prints what to do after each outcome.
 *
 * Run it with PROJECT_AUTOMATION_BASE_URL set (`create` also needs PROJECT_AUTOMATION_TOKEN):
 *
 *   node examples/rotate-token-in-ci.ts create token.json   # once: a token for the job, with few scopes
 *   node examples/rotate-token-in-ci.ts rotate token.json   # a scheduled job, never two at once
 *   node examples/rotate-token-in-ci.ts work token.json     # or: a job whose token rotates itself when it gets old
 *
 * With STORE_COMMAND, such as `vault kv put secret/ci token=-`, the record is also written to the stdin of that command.
 * On GitHub Actions every secret is masked in the log before anything else is printed.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { type AutomationError, Client, isAutomationError, rotatingToken, type StoredToken } from "project-automation";

/** What to do when no token came of it. */
interface Advice {
  /** The service refused the token that was to do it. */
  readonly auth: string;
  /** It was not done. */
  readonly nothing: string;
  /** It was done, and the text of the response is there. */
  readonly raw: string;
  /** It was done, and the response did not come. */
  readonly lost: string;
  /** It may have been done. */
  readonly unknown: string;
}

const REVOKE = "look for `ci` in the account settings and revoke it, then run this again";
const CREATING: Advice = {
  auth: "PROJECT_AUTOMATION_TOKEN is not valid; get another one from the account settings",
  nothing: "no token was created; run this again",
  raw: "a token was created",
  lost: `a token was created, and its plaintext is lost; ${REVOKE}`,
  unknown: `a token may have been created, and its plaintext is lost; ${REVOKE}`,
};

const ANOTHER = "create a new one in the account settings, or with `create`";
const ROTATING: Advice = {
  auth: `the token is not valid any more; ${ANOTHER}`,
  nothing: "nothing has changed, the token is still valid; run this again",
  raw: "the old token is revoked, and the new one came",
  lost: `the old token is revoked, and the new one did not arrive; ${ANOTHER}`,
  unknown: "the old token may be revoked and the new one lost; run this again to find out",
};

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
  await keep(() => owner.tokens.create({ name: "ci", scopes: ["projects:read"], expires_in_days: 7 }), CREATING);
}

async function rotate(): Promise<void> {
  const { id, plaintext } = read();
  const client = new Client({ token: plaintext });
  await keep(() => client.tokens.rotate(id, { adopt: true }), ROTATING);
  await job(client); // sent with the new token
}

/** For a job that does not rotate on purpose: the first call within a day of the token's expiry rotates it. */
async function work(): Promise<void> {
  const stored = read();
  makeDraft();
  rmSync(draft); // it could be created, so `store` can create it again
  const token = rotatingToken({
    token: stored,
    onRotated: store, // before the new token is used
    onRotationFailed: (error) => {
      console.error(explain(error, ROTATING)); // the job goes on with the token that it has
      process.exitCode = 1;
    },
  });
  await job(new Client({ token }));
}

async function job(client: Client): Promise<void> {
  console.log(`${(await client.projects.list({ limit: 200 }).page()).data.length} projects`);
}

function read(): StoredToken {
  const stored = JSON.parse(readFileSync(file, "utf8")) as StoredToken; // written by `store`
  mask(stored);
  return stored;
}

/** Requests a token and stores it. */
async function keep(request: () => Promise<StoredToken>, advice: Advice): Promise<void> {
  makeDraft();
  let created: StoredToken;
  try {
    created = await request();
  } catch (error) {
    rmSync(draft);
    throw new Error(explain(error, advice), { cause: error });
  }
  store(created);
}

/** Before a token is requested: if the folder is not writable, nothing must be rotated. */
function makeDraft(): void {
  try {
    writeFileSync(draft, "", { mode: 0o600, flag: "wx" }); // "wx": an interrupted run may have left its token there
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // the file system throws no other
    const left = code === "EEXIST" ? `look for a new token in ${draft}, which an interrupted run has left` : message;
    throw new Error(`no token was requested, nothing has changed: ${left}`, { cause: error });
  }
}

function store({ id, plaintext, expires_at }: StoredToken): void {
  mask({ plaintext });
  const record = JSON.stringify({ id, plaintext, expires_at });
  try {
    writeFileSync(draft, record, { mode: 0o600, flush: true });
    renameSync(draft, file);
    console.log(`stored the new token in ${file}`);
  } catch (error) {
    const text = `the new token is not in ${file}; look for it in ${draft} and in your STORE_COMMAND`;
    throw new Error(`${text}: ${(error as Error).message}`, { cause: error }); // the file system throws nothing else
  } finally {
    handOver(record); // also if the disk has just failed
  }
}

/** The runner does not show this line, and shows *** in place of the secret in every later line of the log. */
function mask({ plaintext }: Pick<StoredToken, "plaintext">): void {
  if (process.env["GITHUB_ACTIONS"] !== "true") return;
  writeSync(process.stdout.fd, `::add-mask::${plaintext}\n`); // at once: on Windows console.log writes to pipes later
}

function handOver(record: string): void {
  const storeCommand = process.env["STORE_COMMAND"];
  if (storeCommand === undefined) return;
  const { status } = spawnSync(storeCommand, { shell: true, input: record, stdio: ["pipe", "ignore", "inherit"] });
  if (status === 0) return;
  console.error(`STORE_COMMAND failed: the new token is in ${file}, store it from there`);
  process.exitCode = 1;
}

/** What happened and what to do. Saves the text of a response that could not be used: the new secret may be in it. */
function explain(error: unknown, advice: Advice): string {
  if (!isAutomationError(error)) return String(error);
  if (error.rawBody) writeFileSync(`${file}.raw`, error.rawBody, { mode: 0o600, flush: true });
  return `${error.message}\noutcome ${error.outcome}: ${adviceAfter(error, advice)}`;
}

function adviceAfter({ kind, outcome, rawBody }: AutomationError, advice: Advice): string {
  if (kind === "auth") return advice.auth;
  if (outcome === "rejected" || outcome === "not_sent") return advice.nothing;
  if (outcome !== "accepted") return advice.unknown;
  return rawBody ? `${advice.raw}; look for its id, plaintext and expires_at in ${file}.raw` : advice.lost;
}
