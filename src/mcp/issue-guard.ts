import type * as z from "zod";
import type { Journal } from "../bulk/journal.ts";
import { fateOfError, isHarmless } from "../client/call/fate.ts";
import type { Client } from "../client/client.ts";
import type { Issue } from "../client/models.ts";
import { readService, type Service } from "../client/service.ts";
import { now } from "../client/time/clock.ts";
import { Deadline } from "../client/time/deadline.ts";
import { checkShape, ISSUE } from "./contract-shape.ts";
import { GRACE_MS, IssueMemory, type Knowledge, REMEMBERED } from "./issue-memory.ts";

/** Project, title and type of an issue, as they were given. */
export type IssueKey = readonly [project: string, title: string, type: string];

/** An issue as the tool returns it: fresh, or from memory and then without what changes. */
export type GuardedIssue = z.output<typeof REMEMBERED> &
  ({ readonly repeated: false; readonly status: string } | { readonly repeated: true; readonly created_at: string });

/** An issue is not created, because an earlier call may have created it. */
export class MayExistError extends Error {
  /** When that call was made: ISO 8601. */
  readonly since: string;

  constructor(since: string) {
    super("an earlier call may have created this issue");
    this.since = since;
  }
}

/** Sends the request of one issue; it awaits `onRequest` before each request leaves. */
export type SendIssue = (onRequest: () => Promise<void>) => Promise<Issue>;

/** A call that has not ended. */
interface UnderWay {
  /** When it began: ISO 8601. */
  readonly at: string;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<void>;
  /** When the others give it up, on the monotonic clock: a platform may drop a call at any `await`. */
  readonly endsAt: number;
}

const guards = new WeakMap<object, IssueGuard>();

/**
 * Keeps a model that repeats itself from creating an issue twice. An issue is known by the service, and by its project,
 * title and type. The memory belongs to a client, so that servers that are made per request share it. With a journal it
 * outlives the process, and a record is durable before each request leaves.
 */
export class IssueGuard {
  readonly #service: Service;
  readonly #memory: IssueMemory;
  /** The call under way of each issue, which the next call waits for. */
  readonly #underWay = new Map<string, UnderWay>();
  /** Records of ends that are not durable yet. */
  readonly #unrecorded = new Set<Promise<void>>();

  private constructor(service: Service, journal: Journal | undefined) {
    this.#service = service;
    this.#memory = new IssueMemory(service, journal);
  }

  /** The guard of a client; `undefined` if it has another journal than the one given. */
  static of(client: Client, journal: Journal | undefined): IssueGuard | undefined {
    const guard = guards.get(client) ?? new IssueGuard(readService(client.baseUrl), journal);
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
    send: SendIssue,
    { again, deadline }: { readonly again: boolean; readonly deadline: Deadline },
  ): Promise<GuardedIssue> {
    const name = JSON.stringify([this.#service, ...key]);
    await deadline.race(this.#memory.open(deadline.leftMs));
    for (let other = this.#underWay.get(name); other !== undefined; other = this.#underWay.get(name)) {
      await this.#endOf(name, other, deadline);
    }
    // Nothing is awaited between here and the call being under way, so that of two calls at one moment the second waits.
    const known = this.#memory.get(name);
    if (!again && known?.state === "created") return { ...known.issue, repeated: true, created_at: known.at };
    if (!again && known?.state === "unknown") throw new MayExistError(known.at);
    return this.#send(name, send, deadline);
  }

  /** Resolves when the journal is open. @throws JournalError if it cannot be used. */
  open(limitMs: number): Promise<void> {
    return this.#memory.open(limitMs);
  }

  /** Closes the journal when no call is under way and it has the record of each. @throws JournalError if it cannot be closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#underWay.values()].map(({ ended }) => ended));
    await Promise.all(this.#unrecorded);
    await this.#memory.close();
  }

  /** Resolves when another call has ended. One that is past its limit is given up: it may have been applied. */
  async #endOf(name: string, other: UnderWay, deadline: Deadline): Promise<void> {
    const limit = Deadline.of(other.endsAt - now()); // each waiter has a timer of its own
    try {
      await deadline.race(limit.race(other.ended));
    } catch (stopped) {
      if (limit.reason === undefined) throw stopped;
      if (this.#underWay.get(name) !== other) return;
      this.#underWay.delete(name);
      this.#memory.remember(name, { state: "unknown", at: other.at });
    } finally {
      limit.release();
    }
  }

  async #send(name: string, send: SendIssue, deadline: Deadline): Promise<GuardedIssue> {
    const memory = this.#memory;
    const before = memory.get(name);
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const call = { at: new Date().toISOString(), ended, endsAt: now() + deadline.leftMs + GRACE_MS };
    this.#underWay.set(name, call);
    const isCurrent = (): boolean => this.#underWay.get(name) === call;
    let isSent = false;
    let after = before;
    try {
      const issue = checkShape(
        ISSUE,
        await send(async () => {
          if (!isCurrent()) throw new Error("the call is past its time limit, and others have given it up");
          if (isSent) return; // the client sends the same request again
          isSent = true;
          await memory.record(name, "sending", deadline.leftMs);
        }),
      );
      after = { state: "created", at: new Date().toISOString(), issue: REMEMBERED.parse(issue) };
      return { ...issue, repeated: false };
    } catch (error) {
      if (isSent && !isHarmless(fateOfError(error))) after = { state: "unknown", at: call.at };
      throw error;
    } finally {
      // A call that was given up knows more than the others only if it has created the issue.
      const isBest = isCurrent() || (after?.state === "created" && after !== before);
      if (isBest) memory.remember(name, after);
      if (isCurrent()) this.#underWay.delete(name);
      end();
      // A journal that hangs holds up no call beyond its time.
      if (isBest && isSent) await deadline.race(this.#recordEnd(name, after, deadline)).catch(() => {});
    }
  }

  /** If this record cannot be written, the last one is `sending`, and the next process takes the outcome as unknown. */
  #recordEnd(name: string, after: Knowledge | undefined, { leftMs }: Deadline): Promise<void> {
    const recorded = this.#memory.record(name, after ?? "not_sent", leftMs).catch(() => {});
    this.#unrecorded.add(recorded);
    return recorded.finally(() => this.#unrecorded.delete(recorded));
  }
}
