import { fieldsOf } from "../core/checks/values.ts";
import { now } from "../core/time/clock.ts";
import { Deadline, STOPPED } from "../core/time/deadline.ts";
import type { CircuitBreaker, Failure } from "./circuit-breaker.ts";
import { type Command, NotConnected } from "./client.ts";
import type { RedisSettings } from "./options.ts";
import { parseSlotReply, type SlotReply } from "./slot-reply.ts";
import { type TokenAtService, tokenKeys } from "./token-keys.ts";

/** The connection of one process to Redis, as all its tokens use it. */
export interface Connection extends RedisSettings {
  readonly process: string;
  readonly breaker: CircuitBreaker;
}

/** A script and its own arguments; those that all scripts take first are added to them. */
export type TokenCommand = Omit<Command, "keys">;

export interface Member {
  sync(): TokenCommand;
  learn(reply: SlotReply): void;
}

/**
 * Runs the scripts of one token. No caller waits longer than `commandTimeoutMs`. A failure opens the breaker of the
 * connection. Never rejects.
 */
export class TokenCommands {
  readonly #connection: Connection;
  readonly #member: Member;
  readonly #findKeys: Promise<readonly string[]>;
  /** Known from the first command on, so that commands are sent in the order in which they are given. */
  #keys: readonly string[] | undefined;
  /** The clock of Redis as of the latest reply, beside ours. */
  #clock: { readonly redisNow: number; readonly at: number } | undefined;

  constructor(connection: Connection, of: TokenAtService, member: Member) {
    this.#connection = connection;
    this.#member = member;
    this.#findKeys = tokenKeys(connection.namespace, of);
  }

  get isShared(): boolean {
    return this.#connection.breaker.isClosed;
  }

  /** `true` if Redis is away and it is time to try it again. */
  get mayTry(): boolean {
    return this.#connection.breaker.mayTry;
  }

  /**
   * Returns the reply, or `undefined` if there is none in time. A command that waited in the client's own queue may be
   * run much later, and Redis leaves one undone that it takes for late: then the present state is sent.
   */
  async run(command: TokenCommand): Promise<SlotReply | undefined> {
    const deadline = Deadline.of(this.#connection.commandTimeoutMs);
    const sent = this.#send(command);
    try {
      const reply = await deadline.race(sent);
      if (reply.outcome === "late") this.sync();
      this.#member.learn(reply);
      return reply;
    } catch (error) {
      this.#connection.breaker.open(describe(error, this.#connection));
      if (error === STOPPED) sent.then(() => this.sync()).catch(() => {});
      return undefined;
    } finally {
      deadline.release();
    }
  }

  /** Tells Redis all that the process holds, or tries whether it is back. No call waits for it. */
  sync(): void {
    void (this.isShared ? this.run(this.#member.sync()) : this.#rejoin());
  }

  /** Takes as long as it takes. The first trial may have waited in the client's own queue until it connected. */
  async #rejoin(): Promise<void> {
    const { breaker } = this.#connection;
    breaker.beginTrial();
    try {
      if ((await this.#isBack()) || (await this.#isBack())) {
        breaker.close();
        // A slot that was given back while the trial ran was not reported.
        return this.sync();
      }
    } catch {
      // It is still away.
    }
    breaker.postpone();
  }

  /** Resolves `true` if Redis replies in time. A late reply still sets the clock, so that the next command is not late. */
  async #isBack(): Promise<boolean> {
    const sentAt = now();
    const reply = await this.#send(this.#member.sync());
    this.#member.learn(reply);
    return reply.outcome !== "late" && now() - sentAt <= this.#connection.commandTimeoutMs;
  }

  async #send({ script, args }: TokenCommand): Promise<SlotReply> {
    this.#keys ??= await this.#findKeys;
    const { evaluate, commandTimeoutMs, process } = this.#connection;
    const sentAt = this.#clock === undefined ? 0 : this.#clock.redisNow + now() - this.#clock.at;
    // Between the two clocks there are the ways of a reply and of a command.
    const opening = [whole(sentAt), whole(2 * commandTimeoutMs), process];
    const raw = await evaluate({ script, keys: this.#keys, args: [...opening, ...args] });
    this.#connection.errors.latest = undefined;
    const reply = parseSlotReply(raw);
    this.#clock = { redisNow: reply.redisNow, at: now() };
    return reply;
  }
}

/** A number as scripts take it, rounded up. */
export function whole(ms: number): string {
  return String(Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER));
}

/** Messages may contain addresses and what was sent, so only the code is passed on: that of the client's latest error, if need be. */
function describe(error: unknown, { commandTimeoutMs, errors }: RedisSettings): Failure {
  const code = codeOf(error) ?? codeOf(errors.latest);
  const told = (reason: Failure["reason"], sentence: string): Failure =>
    code === undefined ? { reason, message: sentence } : { reason, message: `${sentence} (${code})`, code };
  if (error === STOPPED) return told("timeout", `Redis did not reply within ${commandTimeoutMs} ms`);
  return error instanceof NotConnected ? told("not_connected", error.message) : told("error", "Redis failed");
}

function codeOf(error: unknown): string | undefined {
  const { code, message } = fieldsOf(error);
  const words = [code, /^[A-Z]+/.exec(String(message))?.[0]];
  return words.find((word): word is string => typeof word === "string" && /^[A-Z][A-Z_]{2,30}$/.test(word));
}
