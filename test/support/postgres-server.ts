/** A real Postgres for a test: on a free port, in a folder of its own, gone when the test is over. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, chmodSync, chownSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { NEEDS_ALL } from "./all-tests.ts";
import { freePort } from "./free-port.ts";

/** Debian keeps the programs of a server away from the PATH. */
const FOLDERS = [...(process.env["PATH"] ?? "").split(delimiter), ...globSync("/usr/lib/postgresql/*/bin")];
const BIN = FOLDERS.find((folder) => {
  try {
    for (const program of ["initdb", "postgres"]) accessSync(join(folder, program));
    return true;
  } catch {
    return false;
  }
});

/** Without a server its tests are skipped, unless all tests are asked for: then they fail. */
export const SKIPS_POSTGRES: boolean = BIN === undefined && !NEEDS_ALL;
const WHY_NOT = "there is no postgres on the PATH or in /usr/lib/postgresql";
if (SKIPS_POSTGRES) console.log(`Not tested with a Postgres: ${WHY_NOT}.`);

export class PostgresServer implements AsyncDisposable {
  readonly url: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(url: string, folder: string, process: ChildProcess) {
    this.url = url;
    this.#folder = folder;
    this.#process = process;
  }

  /** Resolves when it takes connections. */
  static async start(): Promise<PostgresServer> {
    if (BIN === undefined) throw new Error(WHY_NOT);
    const folder = mkdtempSync(join(tmpdir(), "project-automation-postgres-"));
    // Neither program runs as root.
    const user: { readonly uid?: number; readonly gid?: number } = process.getuid?.() === 0 ? nobody() : {};
    if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
    chmodSync(folder, 0o700);
    const data = join(folder, "data");
    const setUp = ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C"];
    execFileSync(join(BIN, "initdb"), setUp, { ...user, cwd: folder, stdio: "pipe" });
    const port = await freePort();
    const args = ["-D", data, "-p", String(port), "-k", folder, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"];
    const started = spawn(join(BIN, "postgres"), args, { ...user, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    const said: string[] = [];
    for await (const line of createInterface(started.stderr)) {
      said.push(line);
      if (!line.includes("ready to accept connections")) continue;
      started.stderr.resume();
      return new PostgresServer(`postgres://postgres@127.0.0.1:${port}/postgres`, folder, started);
    }
    throw new Error(`postgres ended:\n${said.join("\n")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // At once, without waiting for connections.
    if (this.#process.kill("SIGQUIT")) await once(this.#process, "exit");
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function nobody(): { readonly uid: number; readonly gid: number } {
  const id = (flag: string): number => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}
