/** A proxy that others wrote, in front of a service: on a port of its own, in a folder of its own, gone with its scope. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "../../support/free-port.ts";

/** Where a proxy listens, and what stands behind it. */
export interface Place {
  readonly port: number;
  /** For the orders of its operator. */
  readonly adminPort: number;
  readonly folder: string;
  /** The port of the service. */
  readonly service: number;
}

/** A configuration, as the operator of the proxy writes it. */
export type Configuration = (place: Place) => string;

interface Program {
  /** Prints the version. */
  readonly version: readonly string[];
  readonly start: (file: string, place: Place) => readonly string[];
  /** Takes the file again, as after a change. */
  readonly reload: (running: ChildProcess, file: string, place: Place) => unknown;
}

export type ProxyName = "nginx" | "haproxy" | "caddy";

const PROGRAMS: Readonly<Record<ProxyName, Program>> = {
  nginx: {
    version: ["-v"],
    start: (file, { folder }) => ["-p", folder, "-e", "stderr", "-c", file, "-g", "daemon off;"],
    reload: (running) => running.kill("SIGHUP"),
  },
  haproxy: {
    version: ["-v"],
    start: (file) => ["-W", "-f", file],
    reload: (running) => running.kill("SIGUSR2"),
  },
  caddy: {
    version: ["version"],
    start: (file) => ["run", "--config", file, "--adapter", "caddyfile"],
    reload: (_, file, { folder }) => runToEnd("caddy", ["reload", "--config", file, "--adapter", "caddyfile"], folder),
  },
};

/** Debian keeps servers where no PATH of a user leads. */
const environmentIn = (folder: string): NodeJS.ProcessEnv => ({
  PATH: [process.env["PATH"], "/usr/sbin", "/usr/local/sbin"].join(delimiter),
  HOME: folder,
  XDG_DATA_HOME: folder,
  XDG_CONFIG_HOME: folder,
});

const names = Object.keys(PROGRAMS) as ProxyName[]; // they are
const missing = names.filter(
  (name) => spawnSync(name, PROGRAMS[name].version, { env: environmentIn(tmpdir()) }).status !== 0,
);
if (missing.length > 0) console.log(`Not tested behind ${missing.join(", ")}: not on the PATH (Debian packages).`);

/** Those that are on this machine. */
export const isHere = (name: ProxyName): boolean => !missing.includes(name);

export class ProxyServer implements AsyncDisposable {
  readonly place: Place;
  readonly #name: ProxyName;
  readonly #file: string;
  #running: ChildProcess | undefined;
  #said = "";

  private constructor(name: ProxyName, place: Place) {
    this.#name = name;
    this.place = place;
    this.#file = join(place.folder, "proxy.conf");
  }

  static async start(
    name: ProxyName,
    configuration: Configuration,
    service: { readonly baseUrl: string },
  ): Promise<ProxyServer> {
    const proxy = new ProxyServer(name, {
      port: await freePort(),
      adminPort: await freePort(),
      folder: mkdtempSync(join(tmpdir(), `project-automation-${name}-`)),
      service: Number(new URL(service.baseUrl).port),
    });
    await proxy.#start(configuration);
    return proxy;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.place.port}/api/v1`;
  }

  /** Ends it, and starts it on the same port with another configuration. */
  async correct(configuration: Configuration): Promise<void> {
    await this.#end();
    await this.#start(configuration);
  }

  async reload(): Promise<void> {
    if (this.#running !== undefined) await PROGRAMS[this.#name].reload(this.#running, this.#file, this.place);
  }

  async #start(configuration: Configuration): Promise<void> {
    const { folder, port } = this.place;
    writeFileSync(this.#file, configuration(this.place));
    const started = spawn(this.#name, [...PROGRAMS[this.#name].start(this.#file, this.place)], {
      cwd: folder,
      env: environmentIn(folder),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#running = started;
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#said += text;
      });
    }
    const ended = once(started, "exit").then(() => true);
    while (!(await accepts(port))) {
      const hasEnded = await Promise.race([ended, new Promise<false>((resolve) => setTimeout(resolve, 10, false))]);
      if (hasEnded) throw new Error(`${this.#name} ended: ${this.#said}`);
    }
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, "exit").then(() => true);
    // One that is starting itself anew, as at a reload, may not hear a signal.
    do running.kill("SIGTERM");
    while (!(await Promise.race([ended, new Promise<false>((resolve) => setTimeout(resolve, 1_000, false))])));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    rmSync(this.place.folder, { recursive: true, force: true });
  }
}

/** Returns whether a server takes connections at a port. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function runToEnd(name: ProxyName, args: readonly string[], folder: string): Promise<void> {
  const running = spawn(name, [...args], { cwd: folder, env: environmentIn(folder), stdio: "ignore" });
  await once(running, "exit");
}
