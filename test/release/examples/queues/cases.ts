/** Each queue with one worker: what it does with rows, and what it says of those that are left. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningEmulator, startEmulator } from "project-automation/testing/node";
import { expect } from "vitest";
import { Program, run, type Start, temporaryFolder } from "../program.ts";
import type { QueueOfTest } from "./fleet.ts";

/** An example on a service of its own. */
export class Import implements AsyncDisposable {
  readonly service: RunningEmulator;
  readonly #queue: QueueOfTest;
  readonly #folder = temporaryFolder();
  readonly #env: Record<string, string>;
  #token: string;
  #worker: Program | undefined;

  private constructor(queue: QueueOfTest, service: RunningEmulator, env: Readonly<Record<string, string>>) {
    this.#queue = queue;
    this.service = service;
    this.#token = service.token;
    this.#env = { ...queue.env, ...env };
  }

  static async start(queue: QueueOfTest, env: Readonly<Record<string, string>> = {}): Promise<Import> {
    const projects = [{ name: "web" }, { name: "api" }];
    return new Import(queue, await startEmulator({ projects, rateLimit: false }), env);
  }

  /** The titles of a project's issues. */
  titles(project: string): string[] {
    return this.service.emulator.issues.list(project).map(({ title }) => title);
  }

  command(...command: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
    return run([this.#queue.example, ...command], this.#start);
  }

  /** Adds rows, each `id,project,title,type`. */
  add(name: string, rows: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
    return this.command("add", name, this.file("rows.csv", ["id,project,title,type", ...rows].join("\n")));
  }

  file(name: string, text: string): string {
    const path = join(this.#folder.path, name);
    writeFileSync(path, text);
    return path;
  }

  useToken(token: string): void {
    this.#token = token;
  }

  readTokenFrom(file: string): void {
    this.#env["TOKEN_FILE"] = file;
  }

  work(): Program {
    this.#worker = new Program([this.#queue.example, "work"], this.#start);
    return this.#worker;
  }

  /** Lets one worker come to these counts, and ends it. */
  async workUntil(counts: Awaited<ReturnType<QueueOfTest["counts"]>>): Promise<void> {
    const worker = this.work();
    await this.until(counts);
    worker.kill("SIGTERM");
    expect(await worker.ended, worker.output).toBe(0);
  }

  async until(counts: Awaited<ReturnType<QueueOfTest["counts"]>>): Promise<void> {
    await expect.poll(() => this.#queue.counts()).toEqual(counts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#worker?.kill("SIGKILL");
    await this.#worker?.ended;
    await this.service.close();
    this.#folder[Symbol.dispose]();
  }

  get #start(): Start {
    const { baseUrl } = this.service;
    return { service: { baseUrl, token: this.#token }, folder: this.#folder.path, env: this.#env };
  }
}

const titleOf = (body: unknown): string => (body as { readonly title?: string } | undefined)?.title ?? "";
const row = (title: string, project = "web"): string => `${title},${project},${title},task`;

async function createsTheSameIdTwice(queue: QueueOfTest): Promise<void> {
  await using imported = await Import.start(queue);
  const rows = ["1,web,one,task", "1,api,one,task"];
  for (const name of ["first night", "second night", "second night"]) {
    expect(await imported.add(name, rows)).toEqual({ code: 0, output: "2 rows\n" });
  }
  await imported.workUntil({ done: 4, failed: 0, open: 0 });
  expect([imported.titles("web"), imported.titles("api")]).toEqual([
    ["one", "one"],
    ["one", "one"],
  ]);
  expect(JSON.parse((await imported.command("report")).output)).toMatchObject({ completed: 4, failed: 0 });
}

async function settlesWithoutAnIssue(queue: QueueOfTest): Promise<void> {
  await using imported = await Import.start(queue);
  const { emulator } = imported.service;
  const fault = { operation: "issues.create" } as const;
  emulator.fault({ ...fault, match: ({ body }) => titleOf(body) === "created", drop: "after" });
  emulator.fault({ ...fault, match: ({ body }) => titleOf(body) === "lost", drop: "before" });
  const refusal = { status: 422, body: { error: "invalid", message: "no such type" } };
  emulator.fault({ ...fault, ...refusal, match: ({ body }) => titleOf(body) === "refused" });
  await imported.add(
    "night",
    ["created", "lost", "refused", "done"].map((title) => row(title)),
  );
  await imported.workUntil({ done: 1, failed: 3, open: 0 });
  expect((await imported.command("report")).output).toContain("night/web/refused (refused): ");
  const before = emulator.requests.length;

  const first = await imported.command("settle");
  expect(first.code).toBe(0);
  expect(first.output.split("\n").sort()).toEqual([
    "",
    "0 of 3 failed rows go back to the queue",
    "refused: night/web/refused (refused)",
    "unknown: night/web/created (created)",
    "unknown: night/web/lost (lost)",
  ]);
  const answers = ["--applied", "night/web/created", "--not-applied", "night/web/lost"];
  expect((await imported.command("settle", ...answers)).output).toContain("2 of 3 failed rows go back");
  expect(emulator.requests).toHaveLength(before);

  await imported.workUntil({ done: 3, failed: 1, open: 0 });
  expect(imported.titles("web").sort()).toEqual(["created", "done", "lost"]);
}

async function letsAProjectRefuse(queue: QueueOfTest): Promise<void> {
  await using imported = await Import.start(queue, { PAUSE_MS: "600000" });
  const refusal = { status: 403, body: { error: "forbidden", message: "not your project" } };
  const match = ({ body }: { readonly body: unknown }): boolean => titleOf(body).startsWith("api");
  imported.service.emulator.fault({ operation: "issues.create", times: 50, match, ...refusal });
  const indices = [1, 2, 3, 4, 5];
  const rows = [...indices.map((index) => row(`api${index}`, "api")), ...indices.map((index) => row(`web${index}`))];
  await imported.add("night", rows);
  imported.work();
  await imported.until({ done: 5, failed: 0, open: 5 });
  expect(imported.titles("web")).toHaveLength(5);
}

/** By the title of their tests. */
export const CASES: Readonly<Record<string, (queue: QueueOfTest) => Promise<void>>> = {
  "creates rows of one id in two projects, and in two imports": createsTheSameIdTwice,
  "settles rows without a request, and names those that are left": settlesWithoutAnIssue,
  "is not paused by the 403 of one project": letsAProjectRefuse,
};
