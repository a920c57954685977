import type * as z from "zod";
import type { Journal, JournalRecord } from "../bulk/journal.ts";
import { RunJournal } from "../bulk/run-journal.ts";
import { Turns } from "../bulk/turns.ts";
import { JournalError } from "../client/errors/journal-error.ts";
import { now } from "../client/time/clock.ts";
import { ISSUE } from "./contract-shape.ts";
import { report } from "./diagnostics.ts";

/** The fields of an issue that do not change. */
export const REMEMBERED = ISSUE.omit({ status: true });

/** The knowledge of the issue of a key, and since when (ISO 8601). */
export type Knowledge =
  | { readonly state: "created"; readonly at: string; readonly issue: z.output<typeof REMEMBERED> }
  /** A request was sent, and nothing says that the issue does not exist. */
  | { readonly state: "unknown"; readonly at: string };

/** The most issues that are remembered. */
const MAX_REMEMBERED = 10_000;

/**
 * The memory of created issues: the latest 10,000, and a journal, if there is one. A journal that fails is closed; the
 * next call opens it again. Each failure of it stands on standard error.
 */
export class IssueMemory {
  readonly journal: Journal | undefined;
  readonly #known = new Map<string, Knowledge>();
  readonly #records: RunJournal | undefined;
  /** The journal is loaded, and has not failed since. */
  #isOpen = false;
  /** The opening of the journal, and when it is given up, on the monotonic clock. */
  #opening: { readonly opened: Promise<void>; readonly endsAt: number } | undefined;
  /** The number of openings: one that was given up changes nothing any more. */
  #openings = 0;

  constructor(journal: Journal | undefined) {
    this.journal = journal;
    this.#records = journal && new RunJournal(journal, (failure) => this.#fail(failure));
  }

  /**
   * Resolves when the journal is open and its contents are known. Calls share an opening, until that is older than its
   * limit: it may be the work of a call that the platform has dropped.
   *
   * @throws JournalError if the journal cannot be used.
   */
  open(limitMs: number): Promise<void> {
    if (this.#records === undefined || this.#isOpen) return Promise.resolve();
    if (this.#opening === undefined || this.#opening.endsAt <= now()) {
      const opening = { opened: this.#load(this.#records), endsAt: now() + limitMs };
      this.#opening = opening;
      const end = (): void => {
        if (this.#opening === opening) this.#opening = undefined;
      };
      opening.opened.then(end, end);
    }
    return this.#opening.opened;
  }

  /** Lets other processes use the journal. @throws JournalError if it cannot be closed. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#records?.close();
  }

  get(name: string): Knowledge | undefined {
    return this.#known.get(name);
  }

  /** Keeps what is known now, or forgets the issue. The latest is kept longest. */
  remember(name: string, known: Knowledge | undefined): void {
    this.#known.delete(name);
    if (known === undefined) return;
    this.#known.set(name, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }

  /**
   * Resolves when the journal has the record, at once without a journal.
   *
   * @throws JournalError if the journal fails.
   */
  async record(name: string, known: Knowledge | "sending" | "not_sent"): Promise<void> {
    if (this.#records === undefined) return;
    if (!this.#isOpen) throw new JournalError("the journal has failed", { reason: "failed" });
    await this.#records.write(recordOf(name, known));
  }

  async #load(records: RunJournal): Promise<void> {
    this.#openings += 1;
    const opening = this.#openings;
    try {
      for (const [name, { state, at, reference }] of await records.load(new Turns())) {
        const isKnown = this.#known.has(name); // this process knows more
        if (isKnown || state === "refused" || state === "not_sent") continue;
        const issue = state === "done" ? issueOf(reference) : undefined;
        this.remember(name, issue === undefined ? { state: "unknown", at } : { state: "created", at, issue });
      }
      this.#isOpen ||= opening === this.#openings;
    } catch (failure) {
      if (opening === this.#openings) this.#fail(failure);
      throw failure;
    }
  }

  #fail(failure: unknown): void {
    this.#isOpen = false;
    report("journal", failure);
  }
}

function recordOf(key: string, known: Knowledge | "sending" | "not_sent"): JournalRecord {
  if (typeof known === "string") return { key, state: known, at: new Date().toISOString() };
  const { state, at } = known;
  return state === "created"
    ? { key, state: "done", at, reference: JSON.stringify(known.issue) }
    : { key, state: "unknown", at };
}

/** The issue in a record of the journal, if it is one. */
function issueOf(reference: unknown): z.output<typeof REMEMBERED> | undefined {
  try {
    return REMEMBERED.parse(JSON.parse(String(reference)));
  } catch {
    return undefined;
  }
}
