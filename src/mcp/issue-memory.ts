import type * as z from "zod";
import type { Client } from "../client/client.ts";
import { isHarmless, outcomeOfError } from "../core/call/outcome.ts";
import { ArgumentError } from "../core/errors/classes.ts";
import { now } from "../core/time/clock.ts";
import { Deadline, STOPPED } from "../core/time/deadline.ts";
import type { Issue } from "../service/models.ts";
import { ISSUE, parseShape } from "./contract-shape.ts";

/** The fields of an issue that do not change. */
const LASTING = ISSUE.omit({ status: true });

/** An issue as the tool returns it: fresh, or from memory and then without what changes. */
type CreatedIssue = z.output<typeof LASTING> &
  ({ readonly repeated: false; readonly status: string } | { readonly repeated: true; readonly created_at: string });

/** Project, title and type of an issue, as they were given. */
type IssueKey = readonly [project: string, title: string, type: string];

/** Sends the request of an issue. Awaits `beforeRequest` with the token before each request leaves. */
type SendIssue = (beforeRequest: (token: string) => Promise<void>) => Promise<Issue>;

/** An issue is not created, because an earlier call may have created it. */
export class MayExistError extends Error {
  /** When the earlier call began: ISO 8601. */
  readonly since: string;

  constructor(since: string) {
    super("an earlier call may have created this issue");
    this.since = since;
  }
}

/** An issue that exists, or may exist if `issue` is absent. */
interface Known {
  readonly at: string;
  readonly issue?: z.output<typeof LASTING>;
}

interface RunningCall {
  readonly startedAt: string;
  /** When the calls that wait for it give it up, on the monotonic clock. */
  readonly endsAt: number;
  /** The issue, for the token of the latest request. */
  entry: string | undefined;
  /** Never rejects. */
  ended: Promise<unknown>;
  isGivenUp: boolean;
}

const MOST_ISSUES = 10_000;

/** A platform may drop a call at any `await`. Others wait for it until a moment after its limit. */
const GRACE_MS = 1_000;

const memories = new WeakMap<Client, IssueMemory>();

/**
 * Keeps a model that repeats itself from creating an issue twice. An issue is known by its project, title and type as they were
 * given, and by the token that wrote it. The memory belongs to a client: servers that are made per request share it.
 */
export class IssueMemory {
  readonly #known = new Map<string, Known>();
  readonly #running = new Map<string, RunningCall>();

  static of(client: Client): IssueMemory {
    const memory = memories.get(client) ?? new IssueMemory();
    memories.set(client, memory);
    return memory;
  }

  /**
   * Creates an issue, or returns the one that an earlier call created. It waits for a call with the same key that is running.
   * With `again`, it creates another issue in any case.
   *
   * @throws MayExistError if an earlier call may have created the issue
   */
  async create(
    key: IssueKey,
    send: SendIssue,
    { again, deadline }: { readonly again: boolean; readonly deadline: Deadline },
  ): Promise<CreatedIssue> {
    const name = JSON.stringify(key);
    while (this.#running.has(name)) await this.#endOf(name, deadline);
    const call: RunningCall = {
      startedAt: new Date().toISOString(),
      endsAt: now() + deadline.leftMs + GRACE_MS,
      entry: undefined,
      ended: Promise.resolve(),
      isGivenUp: false,
    };
    // Nothing is awaited before the call is noted as running: of two calls at one moment the second waits.
    this.#running.set(name, call);
    const created = this.#send(name, call, { send, again });
    call.ended = created.catch(() => {});
    try {
      return await created;
    } finally {
      if (!call.isGivenUp) this.#running.delete(name);
    }
  }

  /** Resolves when the running call has ended, or is given up: then it may have been applied. */
  async #endOf(name: string, deadline: Deadline): Promise<void> {
    const call = this.#running.get(name);
    if (call === undefined) return;
    const limit = Deadline.of(call.endsAt - now());
    try {
      await deadline.race(limit.race(call.ended));
    } catch (stopped) {
      if (stopped === STOPPED && limit.reason === undefined) throw stopped;
      if (call.isGivenUp) return;
      call.isGivenUp = true;
      this.#running.delete(name);
      this.#remember(call, { at: call.startedAt });
    } finally {
      limit.release();
    }
  }

  async #send(
    name: string,
    call: RunningCall,
    { send, again }: { readonly send: SendIssue; readonly again: boolean },
  ): Promise<CreatedIssue> {
    let known: Known | undefined;
    try {
      const sent = await send(async (token) => {
        const entry = JSON.stringify([token, name]);
        if (entry === call.entry) return; // the client sends the same request again
        known = again ? undefined : this.#known.get(entry);
        if (known !== undefined) throw new ArgumentError("the memory answers", { outcome: "not_sent" });
        call.entry = entry;
      });
      const issue = parseShape(ISSUE, sent);
      this.#remember(call, { at: new Date().toISOString(), issue: LASTING.parse(issue) });
      return { ...issue, repeated: false };
    } catch (error) {
      if (known?.issue !== undefined) return { ...known.issue, repeated: true, created_at: known.at };
      if (known !== undefined) throw new MayExistError(known.at);
      if (!call.isGivenUp && !isHarmless(outcomeOfError(error))) this.#remember(call, { at: call.startedAt });
      throw error;
    }
  }

  #remember({ entry }: RunningCall, known: Known): void {
    if (entry === undefined) return;
    this.#known.delete(entry);
    this.#known.set(entry, known);
    const [oldest = ""] = this.#known.keys();
    if (this.#known.size > MOST_ISSUES) this.#known.delete(oldest);
  }
}
