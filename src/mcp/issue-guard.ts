import * as z from "zod";
import type { Journal, JournalRecord } from "../bulk/journal.ts";
import { RunJournal } from "../bulk/run-journal.ts";
import { Turns } from "../bulk/turns.ts";
import { isAutomationError } from "../client/errors/classes.ts";
import type { Issue } from "../client/models.ts";

/** An issue as tools return it: the fields of the contract. */
export const CREATED = z.object({
  number: z.int(),
  title: z.string(),
  status: z.string(),
  type: z.string().optional(),
});
type CreatedIssue = z.output<typeof CREATED>;

/** Project, title and type of an issue, as they were given. */
export type IssueKey = readonly [project: string, title: string, type: string];

/** How many issues are remembered. */
const MAX_REMEMBERED = 10_000;

/** What is known of the issues of one key. */
type Knowledge =
  | { readonly state: "under_way"; readonly ended: Promise<unknown> }
  | { readonly state: "created"; readonly issue: CreatedIssue }
  /** A request was sent, and nothing says that the issue does not exist. */
  | { readonly state: "unknown" };

/** Why an issue is not created: an earlier call may have created it. */
export class MayExistError extends Error {}

/** Settles as the work does, or rejects when the call is cancelled or its time is over. */
export type Wait = <Result>(work: Promise<Result>) => Promise<Result>;

/** Sends the request of one issue; it awaits `onRequest` before the request leaves. */
export type SendIssue = (onRequest: () => Promise<void>) => Promise<Issue>;

const guards = new WeakMap<object, IssueGuard>();

/**
 * Keeps a model that repeats itself from creating an issue twice. An issue is known by its project, title and type. The
 * memory belongs to a client, so that servers that are made per request share it; with a journal it outlives the process,
 * and a record is durable before each request leaves.
 */
export class IssueGuard {
  readonly #known = new Map<string, Knowledge>();
  readonly #journal: Journal | undefined;
  readonly #records: RunJournal | undefined;
  #loading: Promise<void> | undefined;

  private constructor(journal: Journal | undefined) {
    this.#journal = journal;
    this.#records = journal && new RunJournal(journal, () => {});
  }

  /** The guard of a client; `undefined` if it has another journal than the one given. */
  static of(client: object, journal: Journal | undefined): IssueGuard | undefined {
    const guard = guards.get(client) ?? new IssueGuard(journal);
    guards.set(client, guard);
    return journal === undefined || guard.#journal === journal ? guard : undefined;
  }

  /**
   * Creates an issue, or returns the one that an earlier call with this key created. A call that is under way is waited
   * for, through `wait`; if it creates nothing, this one is sent. With `again` this one is sent after every end of the
   * earlier calls; it waits for them too, so that one call at a time changes what is known.
   *
   * @throws MayExistError if an earlier call may have created the issue.
   * @throws JournalError if the journal fails; then nothing is sent.
   */
  async create(
    key: IssueKey,
    send: SendIssue,
    { again, wait }: { readonly again: boolean; readonly wait: Wait },
  ): Promise<CreatedIssue & { readonly repeated: boolean }> {
    const name = JSON.stringify(key);
    await wait(this.loaded());
    let known = this.#known.get(name);
    for (; known?.state === "under_way"; known = this.#known.get(name)) await wait(known.ended);
    if (!again && known?.state === "created") return { ...known.issue, repeated: true };
    if (!again && known?.state === "unknown") throw new MayExistError();
    return { ...(await this.#send(name, send, wait)), repeated: false };
  }

  /** Resolves when what the journal holds is known. @throws JournalError if it cannot be read. */
  loaded(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Resolves when no call is under way and the journal has the record of each. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all([...this.#known.values()].flatMap((known) => (known.state === "under_way" ? known.ended : [])));
  }

  async #load(): Promise<void> {
    for (const [name, { state, reference }] of (await this.#records?.load(new Turns())) ?? []) {
      if (state === "refused" || state === "not_sent") continue;
      const issue = state === "done" ? issueOf(reference) : undefined;
      this.#remember(name, issue === undefined ? { state: "unknown" } : { state: "created", issue });
    }
  }

  /** Nothing is awaited before the key is known to be under way, so that of two calls at one moment the second waits. */
  async #send(name: string, send: SendIssue, wait: Wait): Promise<CreatedIssue> {
    const before = this.#known.get(name);
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#remember(name, { state: "under_way", ended });
    let isRecorded = false;
    let after = before;
    try {
      const { number, title, status, type } = await send(async () => {
        if (isRecorded) return; // the client sends the same request again
        isRecorded = true;
        await this.#record(name, "sending");
      });
      const issue = { number, title, status, ...(type === undefined ? {} : { type }) };
      after = { state: "created", issue };
      return issue;
    } catch (error) {
      if (isRecorded && mayBeApplied(error)) after = { state: "unknown" };
      throw error;
    } finally {
      if (after === undefined) this.#known.delete(name);
      else this.#remember(name, after);
      // If this record cannot be written, the last one is `sending`, and the next process takes the outcome as unknown.
      const recorded = isRecorded ? this.#recordEnd(name, after).catch(() => {}) : Promise.resolve();
      void recorded.then(end);
      await wait(recorded).catch(() => {}); // a journal that hangs holds up no call beyond its time
    }
  }

  async #recordEnd(name: string, after: Knowledge | undefined): Promise<void> {
    if (after?.state === "created") await this.#record(name, "done", JSON.stringify(after.issue));
    else await this.#record(name, after === undefined ? "not_sent" : "unknown");
  }

  async #record(key: string, state: JournalRecord["state"], reference?: string): Promise<void> {
    const at = new Date().toISOString();
    await this.#records?.write({ key, state, at, ...(reference === undefined ? {} : { reference }) });
  }

  /** The latest is kept longest. */
  #remember(name: string, known: Knowledge): void {
    this.#known.delete(name);
    this.#known.set(name, known);
    if (this.#known.size <= MAX_REMEMBERED) return;
    for (const [oldest, { state }] of this.#known) {
      if (state === "under_way") continue;
      this.#known.delete(oldest);
      return;
    }
  }
}

function mayBeApplied(error: unknown): boolean {
  return !isAutomationError(error) || error.outcome === "unknown" || error.outcome === "accepted";
}

/** The issue in a record of the journal, if it is one. */
function issueOf(reference: unknown): CreatedIssue | undefined {
  try {
    return CREATED.parse(JSON.parse(String(reference)));
  } catch {
    return undefined;
  }
}
