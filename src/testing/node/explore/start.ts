import type { FileHandle } from "node:fs/promises";
import { type Life, runIn } from "./own-globals.ts";
import { OwnTime, platform } from "./own-time.ts";

/** The end of one start of a program. */
export type Outcome =
  | { readonly state: "resolved"; readonly result: unknown }
  | { readonly state: "rejected"; readonly error: unknown }
  | { readonly state: "hangs"; readonly reason: string }
  | { readonly state: "stopped" };

/** The traffic of a program, as its `fetch` counts it. */
export interface Traffic {
  /** The requests of the run so far. */
  readonly sent: number;
  /** True once the process of the program is to end. */
  readonly isStopped: boolean;
}

/** The bounds of one start. */
export interface Bounds {
  readonly maxRequests: number;
  /** The resources of the process that were there before the program. */
  readonly resources: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** Real milliseconds between two looks. */
const LOOK_MS = 5;
/** After so many jumps without a request, the program only counts time, and one look is enough. */
const IDLE_JUMPS = 100;
/** So many timers in a row without a request: the program waits for ever. */
const MAX_JUMPS = 10_000;
/** So many calls of an abandoned program are rejected; later ones never settle, or it might call again for ever. */
const MAX_LATE_CALLS = 100;
/** A socket or a file that is open for so long without a change is not waited for. */
const OPEN_MS = 5_000;
const DAY_MS = 86_400_000;
/** So many timers beside those that are set when the program resolves: its process would not end. */
const LAST_JUMPS = 200;

/**
 * The looks in a row that have to show nothing before a jump; and the time for which nothing is under way and no timer is
 * set if a program hangs. Bun tells no resources, and files that it writes are then not seen.
 */
const [QUIET_LOOKS, SILENT_MS] = tellsResources() ? [4, 1_000] : [20, 5_000];

function tellsResources(): boolean {
  const timer = platform.setTimeout(() => undefined, 1);
  const { length } = process.getActiveResourcesInfo();
  platform.clearTimeout(timer);
  return length > 0;
}

/** Resources that are open while nothing is under way. */
const STANDING = new Set(["Timeout", "TickObject", "TCPServerWrap", "PipeServerWrap", "TTYWrap"]);

/** The resources of the process by which something may be under way. */
function openResources(): string[] {
  return process.getActiveResourcesInfo().filter((name) => !STANDING.has(name));
}

/** Requests of the platform, such as a read of a file or a turn: each ends by itself. */
const REQUEST = /Req|(?:Connect|Write|Shutdown|Send)Wrap$|^Immediate$/;

/** The resources that stay open whatever the program does. A request of before ends, and must not hide one of the program. */
export function standingResources(): string[] {
  return openResources().filter((name) => !REQUEST.test(name));
}

/** Resolves when no request of the platform is under way, as the write of a file by a start that has ended; within a second. */
export async function platformIsQuiet(): Promise<void> {
  for (let looks = 0, quiet = 0; looks < 200 && quiet < 3; looks += 1) {
    await realPause(LOOK_MS);
    quiet = openResources().some((name) => REQUEST.test(name)) ? 0 : quiet + 1;
  }
}

/** One start of a program, in a time of its own. */
export class Start implements Life {
  readonly time: OwnTime;
  readonly files: Set<FileHandle> = new Set();
  #outcome: Outcome | undefined;
  #hasEnded = false;
  #isAbandoned = false;
  #lateCalls = 0;
  readonly #onAbandon = new Set<() => void>();

  /** Begins `aheadMs` ahead of the platform's clock. */
  constructor(aheadMs: number) {
    this.time = new OwnTime(aheadMs, (error) => this.onUnhandled(error));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Nobody handled it, so the process would have ended. */
  onUnhandled(error: unknown): void {
    if (!this.#hasEnded) this.#outcome = { state: "rejected", error };
  }

  /** Settles as `answer` does, or rejects when the start is abandoned before. */
  untilAbandoned<Value>(answer: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const abandon = (): void => reject(new Error("the exploration has ended this start of the program"));
      if (this.#isAbandoned) {
        this.#lateCalls += 1;
        if (this.#lateCalls <= MAX_LATE_CALLS) platform.setImmediate(abandon);
        return;
      }
      this.#onAbandon.add(abandon);
      void answer.then(resolve, reject).finally(() => this.#onAbandon.delete(abandon));
    });
  }

  /** Rejects its requests, so that nothing of it waits for ever. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    for (const abandon of this.#onAbandon) abandon();
    // The calls that follow the rejections still belong to the program.
    for (let turns = 0, late = 0; turns < 3; turns += 1) {
      await realPause(0);
      if (late !== this.#lateCalls) turns = 0;
      late = this.#lateCalls;
    }
  }

  /** Closes the files that its program has left open, as the end of a process does. */
  async closeFiles(): Promise<void> {
    await Promise.allSettled([...this.files].map((file) => file.close()));
  }

  /** Runs the program to its end, and jumps over its waits. Afterwards no timer of it is left. */
  async run(program: () => unknown, traffic: Traffic, bounds: Bounds): Promise<Outcome> {
    const settle = (outcome: Outcome): void => {
      this.#outcome ??= outcome;
    };
    runIn(this, () => {
      void (async () => program())().then(
        (result) => settle({ state: "resolved", result }),
        (error: unknown) => settle({ state: "rejected", error }),
      );
    });
    try {
      return await this.#drive(traffic, bounds);
    } finally {
      this.#hasEnded = true;
      this.time.end();
    }
  }

  async #drive(traffic: Traffic, { maxRequests, resources, signal }: Bounds): Promise<Outcome> {
    const beganAt = this.time.aheadMs;
    const activity = new Activity(resources);
    let jumps = 0;
    let jumpsLeft: number | undefined;
    let sent = traffic.sent;
    for (;;) {
      const isCounting = jumps > IDLE_JUMPS;
      await realPause(this.#outcome === undefined && !isCounting ? LOOK_MS : 0);
      signal?.throwIfAborted();
      if (traffic.isStopped) return { state: "stopped" };
      const resolved = this.#outcome;
      if (resolved !== undefined && resolved.state !== "resolved") return resolved;
      if (sent !== traffic.sent) jumps = 0;
      sent = traffic.sent;
      if (sent > maxRequests) return hangs(`it sent more than ${maxRequests} requests`);
      if (jumps > MAX_JUMPS) return hangs(`${MAX_JUMPS} timers have run since its last request`);
      if (resolved !== undefined) jumpsLeft ??= this.time.size + LAST_JUMPS;
      if (jumpsLeft === 0) return hangs("its timers go on after it has resolved: clear them, or unref() them");
      if (this.time.aheadMs - beganAt > DAY_MS) return hangs("a day of its own time has passed");
      const quiet = activity.look(`${this.time.signs} ${sent} ${this.#onAbandon.size} ${resolved?.state}`);
      const isIdle = !this.time.isWaiting && this.#onAbandon.size === 0 && !activity.isOpen;
      if (resolved !== undefined && quiet >= 3 && isIdle) return resolved;
      if (quiet < (isCounting ? 2 : QUIET_LOOKS)) continue;
      if (this.time.isWaiting) {
        this.time.jump();
        jumps += 1;
        if (jumpsLeft !== undefined) jumpsLeft -= 1;
      } else if (activity.silentMs > SILENT_MS) {
        return resolved ?? hangs(`${activity.words} and no timer is set`);
      }
    }
  }
}

function hangs(reason: string): Outcome {
  return { state: "hangs", reason };
}

function realPause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms === 0) platform.setImmediate(resolve);
    else platform.setTimeout(resolve, ms);
  });
}

/** Tells by looks, in turns of the process, since when nothing has happened. */
class Activity {
  readonly #before: readonly string[];
  #signs = "";
  #open = "";
  #quiet = 0;
  #since = platform.now();

  constructor(before: readonly string[]) {
    this.#before = before;
  }

  /** True if a resource is open that was not there before. */
  get isOpen(): boolean {
    return this.#open !== "" && this.silentMs < OPEN_MS;
  }

  get silentMs(): number {
    return platform.now() - this.#since;
  }

  /** The state while nothing has happened. */
  get words(): string {
    const open = [...new Set(this.#open.split(" "))].join(", ");
    return open === "" ? "nothing is under way" : `for ${OPEN_MS / 1_000} s nothing has happened beside ${open}`;
  }

  /** Returns the number of looks in a row that showed nothing. */
  look(signs: string): number {
    const before = [...this.#before];
    const open = openResources().filter((name) => {
      const place = before.indexOf(name);
      if (place >= 0) before.splice(place, 1);
      return place < 0;
    });
    const shown = open.sort().join(" ");
    if (signs !== this.#signs || shown !== this.#open) {
      this.#since = platform.now();
      this.#quiet = 0;
    } else this.#quiet = this.isOpen ? 0 : this.#quiet + 1;
    this.#signs = signs;
    this.#open = shown;
    return this.#quiet;
  }
}
