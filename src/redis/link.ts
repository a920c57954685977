import { after, now } from "../clock.ts";
import { ignoreErrors } from "../ignore-errors.ts";
import type { Command, Evaluate } from "./client.ts";
import type { DegradedEvent, FleetEvent } from "./events.ts";
import { type Reply, readReply } from "./reply.ts";

/** From a failure until Redis is tried again; doubles up to the second. */
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 5_000;

/**
 * The way to Redis: nobody waits for longer than a command may take, and not at all while Redis is known to be away.
 * Never rejects, and has a timer only while a command is under way.
 */
export class Link {
  readonly commandTimeoutMs: number;
  readonly #evaluate: (command: Command) => Promise<Reply>;
  readonly #onEvent: ((event: FleetEvent) => void) | undefined;
  #downSince: number | undefined;
  #retryAt = 0;
  #retryMs = FIRST_RETRY_MS;
  #isRetrying = false;

  constructor(evaluate: Evaluate, commandTimeoutMs: number, onEvent: ((event: FleetEvent) => void) | undefined) {
    this.#evaluate = async (command) => readReply(await evaluate(command));
    this.commandTimeoutMs = commandTimeoutMs;
    this.#onEvent = onEvent;
  }

  get isUp(): boolean {
    return this.#downSince === undefined;
  }

  /** Down, and nothing has been tried for long enough. */
  get mayRetry(): boolean {
    return !this.isUp && !this.#isRetrying && now() >= this.#retryAt;
  }

  /** What the script gives, or `undefined` if that is not known in time. */
  run(command: Command): Promise<Reply | undefined> {
    return new Promise((resolve) => {
      const cancelTimer = after(this.commandTimeoutMs, () => {
        this.#fail({ type: "degraded", reason: "timeout" });
        resolve(undefined);
      });
      this.#evaluate(command).then(
        (reply) => {
          cancelTimer();
          resolve(reply);
        },
        (error: unknown) => {
          cancelTimer();
          this.#fail(describe(error));
          resolve(undefined);
        },
      );
    });
  }

  /**
   * Tries whether Redis is back; for nobody who waits, so it may stay in the client's own queue for as long as it takes.
   * Gives what the script gives if it is.
   */
  async retry(command: Command): Promise<Reply | undefined> {
    this.#isRetrying = true;
    const sentAt = now();
    try {
      const reply = await this.#evaluate(command);
      // From the queue of a client that has just connected, or from a Redis that is too slow to be waited for.
      if (now() - sentAt > this.commandTimeoutMs) this.#retryAt = now() + FIRST_RETRY_MS;
      else this.#rejoin();
      return reply;
    } catch {
      this.#retryAt = now() + this.#retryMs;
      this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
      return undefined;
    } finally {
      this.#isRetrying = false;
    }
  }

  #fail(event: DegradedEvent): void {
    if (!this.isUp) return;
    this.#downSince = now();
    this.#retryMs = FIRST_RETRY_MS;
    this.#retryAt = now() + this.#retryMs;
    this.#emit(event);
  }

  #rejoin(): void {
    const afterMs = now() - (this.#downSince ?? now());
    this.#downSince = undefined;
    this.#emit({ type: "rejoined", afterMs });
  }

  #emit(event: FleetEvent): void {
    ignoreErrors(() => this.#onEvent?.(event));
  }
}

// Messages may hold addresses and what was sent; a code is a word.
function describe(error: unknown): DegradedEvent {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const words = [code, /^[A-Z]+/.exec(String(message))?.[0]];
  const known = words.find((word): word is string => typeof word === "string" && /^[A-Z][A-Z_]{2,30}$/.test(word));
  return { type: "degraded", reason: "error", ...(known === undefined ? {} : { code: known }) };
}
