import type * as z from "zod";
import { type Journal, type JournalRecord, nextRevision } from "../bulk/journal.ts";
import { RunJournal } from "../bulk/run-journal.ts";
import { Turns } from "../bulk/turns.ts";
import { JournalError } from "../core/errors/journal-error.ts";
import { now } from "../core/time/clock.ts";
import { ISSUE } from "./contract-shape.ts";
import { report } from "./diagnostics.ts";

/** The fields of an issue that do not change. */
export const REMEMBERED = ISSUE.omit({ status: true });

/** The knowledge of the issue of a key, and since when (ISO 8601). */
export type Knowledge =
  | { readonly state: "created"; readonly at: string; readonly issue: z.output<typeof REMEMBERED> }
  /** A request was sent, and nothing says that the issue does not exist. */
  | { readonly state: "unknown"; readonly at: string };

/** The issue of a key as one token wrote it, and as the memory and the journal name it. */
export interface Entry {
  /** Service, project, title and type. */
  readonly name: string;
  /** A hash of the token when the write left; absent in a record that does not say. */
  readonly token?: string | undefined;
}

export interface Remembered extends Entry {
  readonly known: Knowledge;
  /** Title and type, as they stand in the name. */
  readonly title: string;
  readonly isLoaded: boolean;
}

/** The most issues that are remembered. */
const MAX_REMEMBERED = 10_000;

/** Work that its call gives up ends a moment after the limit of the call. */
export const GRACE_MS = 1_000;

/** The opening of a journal, and its records since. */
interface Opening {
  readonly records: RunJournal;
  /** Resolves when the contents are known. */
  readonly opened: Promise<void>;
  /** The ends of what is awaited from the journal, on the monotonic clock. What takes longer may never end. */
  readonly limits: Set<{ readonly endsAt: number }>;
}

/**
 * The memory of created issues: the latest 10,000, and a journal, if there is one. A journal that fails, or hangs, is
 * opened again by the next call. Each failure of it stands on standard error.
 */
export class IssueMemory {
  readonly journal: Journal | undefined;
  /** The revisions of the latest records in the journal. */
  readonly #revisions = new Map<string, number>();
  readonly #known = new Map<string, Remembered>();
  /** The latest opening, until the journal fails. */
  #opening: Opening | undefined;
  /** Tokens that have replaced others, as hashes, and that the journal has not been told of. */
  readonly #replaced: (readonly [from: string, to: string])[] = [];
  /** The contents of the journal are known, and it has not failed since. */
  #isLoaded = false;
  /** The closing of the journal after its failure. */
  #closed: Promise<void> = Promise.resolve();

  constructor(journal: Journal | undefined) {
    this.journal = journal;
  }

  /**
   * Resolves when the journal is open and its contents are known. Calls share an opening, until something in it is older
   * than its limit: it may be the work of a call that the platform has dropped.
   *
   * @throws JournalError if the journal cannot be used.
   */
  async open(limitMs: number): Promise<void> {
    if (this.journal === undefined) return;
    const hangs = [...(this.#opening?.limits ?? [])].some(({ endsAt }) => endsAt <= now());
    if (hangs) this.#fail(this.#opening, new JournalError("the journal does not answer", { reason: "failed" }));
    this.#opening ??= this.#begin(this.journal, limitMs);
    await this.#opening.opened;
  }

  /** Lets other processes use the journal. @throws JournalError if it cannot be closed. */
  async close(): Promise<void> {
    await this.#opening?.records.close();
    await this.#closed;
  }

  get(entry: Entry): Knowledge | undefined {
    return this.#known.get(keyOf(entry))?.known;
  }

  /** The issues of this title and type that are remembered, of all projects, services and tokens. */
  alike(title: string): readonly Remembered[] {
    return [...this.#known.values()].filter((one) => one.title === title);
  }

  /** Keeps what is known now, or forgets the issue. The latest is kept longest. */
  remember(entry: Entry, known: Knowledge | undefined, isLoaded = false): void {
    const key = keyOf(entry);
    this.#known.delete(key);
    if (known === undefined) return;
    this.#known.set(key, { ...entry, known, title: titleOf(entry.name), isLoaded });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }

  /**
   * Tells a token what another one wrote, which it has replaced. Resolves when the journal has it, too. Where the journal is
   * not open, both have it when it is.
   *
   * @throws JournalError if the journal fails.
   */
  async share(from: string, to: string, limitMs: number): Promise<void> {
    if (this.journal !== undefined && !this.#isLoaded) return void this.#replaced.push([from, to]);
    const written = [...this.#known.values()].filter(({ token }) => token === from);
    const shared = written.filter(({ name }) => this.get({ name, token: to }) === undefined);
    for (const { name, known } of shared) this.remember({ name, token: to }, known);
    try {
      await Promise.all(shared.map(({ name, known }) => this.record({ name, token: to }, known, limitMs)));
    } catch (failure) {
      for (const { name } of shared) this.remember({ name, token: to }, undefined);
      this.#replaced.push([from, to]);
      throw failure;
    }
  }

  /**
   * Resolves when the journal has the record, at once without a journal.
   *
   * @throws JournalError if the journal fails, or has failed since the call has opened it.
   */
  async record(entry: Entry, known: Knowledge | "sending" | "not_sent", limitMs: number): Promise<void> {
    if (this.journal === undefined) return;
    if (this.#opening === undefined) throw new JournalError("the journal has failed", { reason: "failed" });
    const { records, limits } = this.#opening;
    const key = keyOf(entry);
    const revision = nextRevision(this.#revisions.get(key));
    this.#revisions.set(key, revision);
    const { token } = entry;
    const service = String(partsOf(entry.name)[0]);
    await within(limits, limitMs, records.write({ ...recordOf(key, known), service, token, revision }));
  }

  #begin(journal: Journal, limitMs: number): Opening {
    const records = new RunJournal(journal, (failure) => this.#fail(opening, failure));
    const limits: Opening["limits"] = new Set();
    const opened = within(limits, limitMs, this.#load(records, limitMs)).catch((failure: unknown) => {
      this.#fail(opening, failure);
      throw failure;
    });
    const opening: Opening = { records, opened, limits };
    return opening;
  }

  async #load(records: RunJournal, limitMs: number): Promise<void> {
    await this.#closed;
    for (const [key, { state, at, token, reference, revision }] of await records.load(new Turns())) {
      if (revision !== undefined) this.#revisions.set(key, revision);
      const isKnown = this.#known.has(key); // this process knows more
      if (isKnown || state === "refused" || state === "not_sent") continue;
      const issue = state === "done" ? issueOf(reference) : undefined;
      const known: Knowledge = issue === undefined ? { state: "unknown", at } : { state: "created", at, issue };
      this.remember({ name: JSON.stringify(partsOf(key).slice(0, 4)), token }, known, true);
    }
    this.#isLoaded = true;
    for (const [from, to] of this.#replaced.splice(0)) await this.share(from, to, limitMs);
  }

  /** An opening that was given up changes nothing any more. */
  #fail(opening: Opening | undefined, failure: unknown): void {
    if (opening === undefined || this.#opening !== opening) return;
    this.#opening = undefined;
    this.#isLoaded = false;
    this.#closed = opening.records.close().catch(() => {}); // it has failed already
    report("journal", failure);
  }
}

/** Work on a journal, with its limit in the set until it has ended. */
async function within(limits: Opening["limits"], limitMs: number, work: Promise<void>): Promise<void> {
  const limit = { endsAt: now() + limitMs + GRACE_MS };
  limits.add(limit);
  await work.finally(() => limits.delete(limit));
}

/** One issue, as one token wrote it, is one key. */
function keyOf({ name, token }: Entry): string {
  return token === undefined ? name : JSON.stringify([...partsOf(name), token]);
}

/** The parts of a name or a key; of a key that this package did not write, the key. */
export function partsOf(key: string): readonly unknown[] {
  try {
    return [JSON.parse(key)].flat();
  } catch {
    return [key];
  }
}

/** Title and type, as they stand in a name. */
export function titleOf(name: string): string {
  return JSON.stringify(partsOf(name).slice(2));
}

function recordOf(
  key: string,
  known: Knowledge | "sending" | "not_sent",
): Omit<JournalRecord, "service" | "token" | "revision"> {
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
