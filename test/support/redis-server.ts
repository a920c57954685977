/** A real Redis for a test: on a free port, in a folder of its own, gone when the test is over. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { NEEDS_ALL } from "./all-tests.ts";
import { freePort } from "./free-port.ts";

/** Without a server its tests are skipped, unless all tests are asked for: then they fail. */
export const HAS_REDIS: boolean = spawnSync("redis-server", ["--version"]).status === 0;
export const SKIPS_REDIS: boolean = !HAS_REDIS && !NEEDS_ALL;
const WHY_NOT = "there is no redis-server on the PATH";
if (SKIPS_REDIS) console.log(`Not tested with a Redis: ${WHY_NOT}.`);

export class RedisServer implements AsyncDisposable {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), "project-automation-redis-"));
  #process: ChildProcess | undefined;

  readonly #flags: readonly string[];

  private constructor(port: number, flags: readonly string[]) {
    this.port = port;
    this.#flags = flags;
  }

  /** `flags` are those of the program, such as `--appendonly yes`. */
  static async start(flags: readonly string[] = []): Promise<RedisServer> {
    if (!HAS_REDIS) throw new Error(WHY_NOT);
    const server = new RedisServer(await freePort(), flags);
    await server.start();
    return server;
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    const args = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#folder, "--save", ""];
    const started = spawn("redis-server", [...args, ...this.#flags], { stdio: ["ignore", "pipe", "inherit"] });
    this.#process = started;
    const said: string[] = [];
    for await (const line of createInterface(started.stdout)) {
      said.push(line);
      if (!line.includes("Ready to accept connections")) continue;
      started.stdout.resume();
      return;
    }
    throw new Error(`redis-server ended:\n${said.join("\n")}`);
  }

  /** As a crash does: every connection breaks, and only what its flags keep is kept. */
  async kill(): Promise<void> {
    const running = this.#process;
    if (running === undefined) return;
    this.#process = undefined;
    if (running.kill("SIGKILL")) await once(running, "exit");
  }

  /**
   * Hears every command, until it is disposed of. Not by the client of a library: ioredis takes a command that comes before
   * its own answer for an error.
   */
  async monitor(): Promise<AsyncDisposable & { readonly lines: () => readonly string[] }> {
    let text = "";
    const socket = connect(this.port, "127.0.0.1");
    socket.on("error", () => {}); // the server is gone
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    socket.write("MONITOR\r\n");
    await once(socket, "data");
    const dispose = async (): Promise<void> => void socket.destroy();
    return { lines: () => text.split("\r\n").slice(1, -1), [Symbol.asyncDispose]: dispose };
  }

  /** It keeps its connections and sends nothing until it is resumed. */
  freeze(): void {
    this.#process?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process?.kill("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
