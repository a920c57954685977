/** An import by several processes of an example, which the test stops and kills where it wants, judged on the service's log. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Client } from "project-automation";
import { type RunningEmulator, startEmulator } from "project-automation/testing/node";
import { expect } from "vitest";
import { run, temporaryFolder } from "../program.ts";
import type { Order, Told } from "./hook.ts";

const HOOK = resolve(import.meta.dirname, "hook.ts");
const EXAMPLES = resolve(import.meta.dirname, "../../../../examples");

/** The name of the import. */
export const IMPORT = "import";
/** The key of a row, as the examples make it. */
export const keyOf = (row: string): string => `${IMPORT}/web/${row}`;

/** The queue of an example, as the test looks at it. */
export interface QueueOfTest {
  /** The program in `examples/`. */
  readonly example: string;
  /** Where its store is, and short locks. */
  readonly env: Readonly<Record<string, string>>;
  /** How many jobs have ended well, have failed for good, and are still to end. */
  readonly counts: () => Promise<{ readonly done: number; readonly failed: number; readonly open: number }>;
  /** How the job of a row has ended. */
  readonly endOf: (row: string) => Promise<"done" | "failed" | undefined>;
}

interface Worker {
  readonly child: ChildProcess;
  readonly told: Told[];
  output: string;
}

export interface FleetOptions {
  readonly size: number;
  readonly hasStore?: boolean;
}

export class Fleet implements AsyncDisposable {
  readonly service: RunningEmulator;
  /** The rows that were under way in a worker when it was killed. */
  readonly underWayAtKills = new Set<string>();
  readonly underWayAtStops = new Set<string>();
  kills = 0;
  stops = 0;
  /** Of these, how many hit a row whose request was recorded, and not its end. */
  killsOfRequests = 0;
  stopsOfRequests = 0;
  readonly #queue: QueueOfTest;
  readonly #folder = temporaryFolder();
  readonly #hasStore: boolean;
  readonly #every: Worker[] = [];
  #workers: Worker[] = [];
  #rows = 0;

  private constructor(queue: QueueOfTest, service: RunningEmulator, hasStore: boolean) {
    this.#queue = queue;
    this.service = service;
    this.#hasStore = hasStore;
  }

  static async start(queue: QueueOfTest, { size, hasStore = true }: FleetOptions): Promise<Fleet> {
    // A connection that idles while its worker is stopped stays open, as behind most proxies.
    const service = await startEmulator({ projects: [{ name: "web" }], rateLimit: false, keepAliveTimeoutMs: 240_000 });
    const fleet = new Fleet(queue, service, hasStore);
    fleet.#keepToken(service.token);
    await fleet.add(0); // the queue is there
    for (let count = 0; count < size; count += 1) fleet.hire();
    return fleet;
  }

  get rows(): string[] {
    return Array.from({ length: this.#rows }, (_, index) => `r${index + 1}`);
  }

  /** How often each row was created. */
  get created(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { title } of this.service.emulator.issues.list("web")) counts.set(title, (counts.get(title) ?? 0) + 1);
    return counts;
  }

  /** The rows whose record was refused, since another worker had recorded that step. */
  get refused(): string[] {
    return this.#every.flatMap(({ told }) => told.flatMap(({ type, row }) => (type === "refused" ? row : [])));
  }

  async add(count: number): Promise<void> {
    const file = join(this.#folder.path, "rows.csv");
    const before = this.#rows;
    this.#rows += count;
    const lines = this.rows.slice(before).map((row) => `${row},web,${row},task`);
    writeFileSync(file, ["id,project,title,type", ...lines].join("\n"));
    await this.command("add", IMPORT, file);
  }

  /** Runs a command of the example to its end; returns what it printed. */
  async command(...command: readonly string[]): Promise<string> {
    const { code, output } = await this.attempt(...command);
    expect(code, output).toBe(0);
    return output;
  }

  attempt(...command: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
    const start = { service: this.service, folder: this.#folder.path, env: this.#environment };
    return run([this.#queue.example, ...command], start);
  }

  /**
   * Adds rows, lets each worker come to where its order says, and stops or kills them there, all at the same time. Resolves
   * when those that were stopped go on, after another worker has had their job, and others are in the place of the killed.
   */
  async disturb(
    rows: number,
    orders: readonly Order[],
    meanwhile: () => Promise<void> = async () => {},
  ): Promise<void> {
    const workers = this.#workers.slice(0, orders.length);
    const here = workers.map((worker, index) => {
      const order = orders[index] as Order; // as many as workers
      worker.child.send(order);
      return { worker, order, isHere: this.#isHere(worker) };
    });
    await this.add(rows);
    const all = Promise.all(here.map(({ isHere }) => isHere)).then(() => true);
    // A worker without an order may have taken every row between two looks of the others.
    while (!(await Promise.race([all, setTimeout(1_000, false)]))) await this.add(5);
    await Promise.all([
      meanwhile(),
      ...here.map(async ({ worker, order, isHere }) => {
        const { row, underWay } = await isHere;
        worker.child.send("go");
        if (order.signal === "SIGKILL") await this.#bury(worker, underWay);
        else await this.#outlast(worker, { row, underWay });
      }),
    ]);
  }

  /** As the job does that owns the token of the workers. */
  async rotateToken(): Promise<void> {
    const { baseUrl, emulator } = this.service;
    const token = readFileSync(this.#tokenFile, "utf8");
    const [held] = emulator.tokens.list();
    const client = new Client({ baseUrl, token });
    const { plaintext } = await client.tokens.rotate(held?.id ?? "");
    this.#keepToken(plaintext);
  }

  /** Resolves when each job has ended. */
  async whenEnded(): Promise<void> {
    // Not within the limit of one event: jobs of the killed come back after their locks, in several steps.
    while ((await this.#queue.counts()).open > 0) await setTimeout(100);
  }

  /** Ends the workers in order. */
  async dismiss(): Promise<void> {
    const workers = this.#workers;
    this.#workers = [];
    const ends = workers.map(async (worker) => {
      const { child, told } = worker;
      // One that was hired late hears no signal before it works.
      await expect.poll(() => worker.output).toContain("working;");
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      expect(await ended, JSON.stringify(told.at(-1))).toEqual([0, null]);
    });
    await Promise.all(ends);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#every) child.kill("SIGKILL");
    await this.service.close();
    this.#folder[Symbol.dispose]();
  }

  get #environment(): Record<string, string> {
    return { ...this.#queue.env, TOKEN_FILE: this.#tokenFile };
  }

  get #tokenFile(): string {
    return join(this.#folder.path, "token");
  }

  #keepToken(token: string): void {
    writeFileSync(`${this.#tokenFile}.new`, token);
    renameSync(`${this.#tokenFile}.new`, this.#tokenFile);
  }

  /** One more worker. */
  hire(): void {
    const child = fork(join(EXAMPLES, this.#queue.example), ["work"], {
      cwd: this.#folder.path,
      execArgv: ["--disable-warning=ExperimentalWarning", "--import", HOOK],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: {
        PATH: process.env["PATH"],
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        PROJECT_AUTOMATION_BASE_URL: this.service.baseUrl,
        ...(!this.#hasStore && { WITHOUT_STORE: "1" }),
        ...this.#environment,
      },
    });
    const worker: Worker = { child, told: [], output: "" };
    child.on("message", (told: Told) => worker.told.push(told));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        worker.output += text;
      });
    }
    this.#workers.push(worker);
    this.#every.push(worker);
  }

  /** Rejects if it ends without having come there. */
  async #isHere(worker: Worker): Promise<Extract<Told, { type: "here" }>> {
    const before = worker.told.length;
    const over = new AbortController();
    const ended = once(worker.child, "exit", over).then(() => {
      throw new Error(`a worker has ended by itself:\n${worker.output}`);
    });
    ended.catch(() => {}); // also where it was not waited for
    try {
      for (;;) {
        // Of all that it told: several messages may come at once.
        for (const told of worker.told.slice(before)) if (told.type === "here") return told;
        await Promise.race([once(worker.child, "message", over), ended]);
      }
    } finally {
      over.abort();
    }
  }

  async #bury(worker: Worker, underWay: readonly string[]): Promise<void> {
    await once(worker.child, "exit");
    this.kills += 1;
    if (underWay.length > 0) this.killsOfRequests += 1;
    for (const row of underWay) this.underWayAtKills.add(row);
    this.#workers = this.#workers.filter((other) => other !== worker);
    this.hire();
  }

  /** Until another worker has had its job, and ended it. */
  async #outlast(worker: Worker, { row, underWay }: { row: string; underWay: readonly string[] }): Promise<void> {
    const state = (): string =>
      readFileSync(`/proc/${worker.child.pid}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .charAt(0);
    await expect.poll(state).toBe("T");
    this.stops += 1;
    if (underWay.length > 0) this.stopsOfRequests += 1;
    for (const other of underWay) this.underWayAtStops.add(other);
    while ((await this.#queue.endOf(row)) === undefined) await setTimeout(50); // after its lock, in several steps
    worker.child.kill("SIGCONT");
  }
}
