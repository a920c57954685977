import type * as z from "zod";
import type { Journal } from "../bulk/journal.ts";
import type { Client } from "../client/client.ts";
import { isHarmless, outcomeOfError } from "../core/call/outcome.ts";
import { ArgumentError } from "../core/errors/classes.ts";
import { now } from "../core/time/clock.ts";
import { Deadline, STOPPED } from "../core/time/deadline.ts";
import type { Issue, Project } from "../service/models.ts";
import { checkShape, ISSUE } from "./contract-shape.ts";
import { type Entry, GRACE_MS, IssueMemory, type Knowledge, REMEMBERED } from "./issue-memory.ts";
import { type IssueKey, IssueOwners } from "./issue-owners.ts";

/** An issue as the tool returns it: fresh, or from memory and then without what changes. */
export type GuardedIssue = z.output<typeof REMEMBERED> &
  ({ readonly repeated: false; readonly status: string } | { readonly repeated: true; readonly created_at: string });

/** The requests that a call can send. */
export interface IssueRequests {
  /** Sends the request of the issue; it awaits `beforeRequest` with the token before each request leaves. */
  readonly create: (beforeRequest: (token: string) => Promise<void>) => Promise<Issue>;
  readonly projects: () => AsyncIterable<Project>;
}

/** A call that has not ended. */
interface UnderWay {
  /** When it began: ISO 8601. */
  readonly at: string;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<void>;
  /** When the others give it up, on the monotonic clock: a platform may drop a call at any `await`. */
  readonly endsAt: number;
  /** The issue, once a request is about to leave. */
  entry: Entry | undefined;
}

/** One call, as it is sent. */
interface Sending {
  readonly title: string;
  readonly key: IssueKey;
  readonly call: UnderWay;
  /** Returns the issue if it is known, unless the call sends it in any case. */
  readonly recall: (entry: Entry) => GuardedIssue | undefined;
}

const guards = new WeakMap<object, IssueGuard>();

/**
 * Keeps a model that repeats itself from creating an issue twice. An issue is known by the service, its project, title and
 * type, and by the token that wrote it. The memory belongs to a client, so that servers that are made per request share it.
 * With a journal it outlives the process, and a record is durable before each request leaves.
 */
export class IssueGuard {
  readonly #owners: IssueOwners;
  readonly #memory: IssueMemory;
  /** The call under way of each title and type, which the next call waits for: two projects may be one, by its name and its id. */
  readonly #underWay = new Map<string, UnderWay>();
  /** Records of ends that are not durable yet. */
  readonly #unrecorded = new Set<Promise<void>>();

  private constructor(client: Client, journal: Journal | undefined) {
    this.#memory = new IssueMemory(journal);
    this.#owners = new IssueOwners(client, this.#memory);
  }

  /** The guard of a client; `undefined` if it has another journal than the one given. */
  static of(client: Client, journal: Journal | undefined): IssueGuard | undefined {
    const guard = guards.get(client) ?? new IssueGuard(client, journal);
    guards.set(client, guard);
    return journal === undefined || guard.#memory.journal === journal ? guard : undefined;
  }

  /**
   * Creates an issue, or returns the one that an earlier call with this key created. A call that is under way is waited
   * for; if it creates nothing, this one is sent. With `again` this one is sent after every end of the earlier calls; it
   * waits for them too, so that one call at a time changes what is known.
   *
   * @throws MayExistError if an earlier call may have created the issue.
   * @throws JournalError if the journal cannot be used; then nothing is sent.
   */
  async create(
    key: IssueKey,
    requests: IssueRequests,
    { again, deadline }: { readonly again: boolean; readonly deadline: Deadline },
  ): Promise<GuardedIssue> {
    const title = JSON.stringify(key.slice(1));
    await deadline.race(this.#memory.open(deadline.leftMs));
    // The hand-over rejects where a platform has dropped the request of the Worker that began it.
    await deadline.race(this.#owners.handedOver.catch(() => {}));
    for (let other = this.#underWay.get(title); other !== undefined; other = this.#underWay.get(title)) {
      await this.#endOf(title, other, deadline);
    }
    // Nothing is awaited between here and the call being under way, so that of two calls at one moment the second waits.
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const at = new Date().toISOString();
    const call: UnderWay = { at, ended, endsAt: now() + deadline.leftMs + GRACE_MS, entry: undefined };
    this.#underWay.set(title, call);
    try {
      const projects = again ? undefined : await this.#owners.projectsLike(key, requests.projects);
      const recall = (entry: Entry): GuardedIssue | undefined => {
        const known = projects && this.#owners.recall(entry, projects);
        return known && { ...known.issue, repeated: true, created_at: known.at };
      };
      const { held } = this.#owners;
      const known = held === undefined ? undefined : recall(this.#owners.entryOf(key, held));
      return known ?? (await this.#send({ title, key, call, recall }, requests.create, deadline));
    } finally {
      if (this.#underWay.get(title) === call) this.#underWay.delete(title);
      end();
    }
  }

  /** Resolves when the journal is open. @throws JournalError if it cannot be used. */
  open(limitMs: number): Promise<void> {
    return this.#memory.open(limitMs);
  }

  /** Closes the journal when no call is under way and it has the record of each. @throws JournalError if it cannot be closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#underWay.values()].map(({ ended }) => ended));
    await Promise.all([this.#owners.handedOver, ...this.#unrecorded]);
    await this.#memory.close();
  }

  /**
   * Resolves when another call has ended. One that is past its limit, or that the platform says it has dropped, is given
   * up: it may have been applied.
   */
  async #endOf(title: string, other: UnderWay, deadline: Deadline): Promise<void> {
    const limit = Deadline.of(other.endsAt - now()); // each waiter has a timer of its own
    try {
      await deadline.race(limit.race(other.ended));
    } catch (stopped) {
      if (stopped === STOPPED && limit.reason === undefined) throw stopped;
      if (this.#underWay.get(title) !== other) return;
      this.#underWay.delete(title);
      if (other.entry !== undefined) this.#memory.remember(other.entry, { state: "unknown", at: other.at });
    } finally {
      limit.release();
    }
  }

  async #send(
    { title, key, call, recall }: Sending,
    create: IssueRequests["create"],
    deadline: Deadline,
  ): Promise<GuardedIssue> {
    const memory = this.#memory;
    const isCurrent = (): boolean => this.#underWay.get(title) === call;
    let latest: string | undefined;
    let before: Knowledge | undefined;
    let after: Knowledge | undefined;
    /** A request may have left with the latest token. */
    let leaves = false;
    let remembered: (() => GuardedIssue) | undefined;
    try {
      const issue = checkShape(
        ISSUE,
        await create(async (token) => {
          if (!isCurrent()) throw new Error("the call is past its time limit, and others have given it up");
          if (token === latest && leaves) return; // the client sends the same request again
          leaves = false;
          if (latest !== undefined) await this.#replaced(call, [latest, token], deadline.leftMs);
          latest = token;
          const entry = this.#owners.entryOf(key, token);
          remembered = answerOf(() => recall(entry));
          if (remembered !== undefined) throw new ArgumentError("the memory answers", { outcome: "not_sent" });
          before = memory.get(entry);
          after = before;
          call.entry = entry;
          await memory.record(entry, "sending", deadline.leftMs);
          leaves = true;
        }),
      );
      after = { state: "created", at: new Date().toISOString(), issue: REMEMBERED.parse(issue) };
      return { ...issue, repeated: false };
    } catch (error) {
      if (remembered !== undefined) return remembered();
      if (leaves && !isHarmless(outcomeOfError(error))) after = { state: "unknown", at: call.at };
      throw error;
    } finally {
      await this.#end(
        call,
        { after, isBest: isCurrent() || (after?.state === "created" && after !== before) },
        deadline,
      );
    }
  }

  /** The token was refused, and another one replaces it: nothing was created with it. */
  async #replaced(call: UnderWay, [from, to]: readonly [from: string, to: string], limitMs: number): Promise<void> {
    const { entry } = call;
    call.entry = undefined;
    if (entry !== undefined) await this.#memory.record(entry, this.#memory.get(entry) ?? "not_sent", limitMs);
    await this.#owners.replaced(from, to, limitMs);
  }

  /** A call that was given up knows more than the others only if it has created the issue. */
  async #end(
    { entry }: UnderWay,
    { after, isBest }: { after: Knowledge | undefined; isBest: boolean },
    deadline: Deadline,
  ): Promise<void> {
    if (entry === undefined || !isBest) return;
    this.#memory.remember(entry, after);
    // A journal that hangs holds up no call beyond its time.
    await deadline.race(this.#recordEnd(entry, after, deadline)).catch(() => {});
  }

  /** If this record cannot be written, the last one is `sending`, and the next process takes the outcome as unknown. */
  #recordEnd(entry: Entry, after: Knowledge | undefined, { leftMs }: Deadline): Promise<void> {
    const recorded = this.#memory.record(entry, after ?? "not_sent", leftMs).catch(() => {});
    this.#unrecorded.add(recorded);
    return recorded.finally(() => this.#unrecorded.delete(recorded));
  }
}

/** The answer of the memory: a function that returns the issue, or throws the doubt. `undefined` if the memory has none. */
function answerOf(recall: () => GuardedIssue | undefined): (() => GuardedIssue) | undefined {
  try {
    const issue = recall();
    return issue && (() => issue);
  } catch (doubt) {
    return () => {
      throw doubt;
    };
  }
}
