/** The suite on runtimes that are started for it and end by themselves. */
import { spawn } from "node:child_process";
import { cpSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { PROGRAM_LIMIT_MS } from "../../support/limits.ts";
import type { Packed } from "../../support/packed.ts";
import type { Runtime } from "./binaries.ts";
import type { Report, Settings } from "./programs/run.ts";

export type Format = "ESM" | "CommonJS";

/** How a run went. */
export interface Ran {
  /** `undefined` where none came. */
  readonly report: Report | undefined;
  /** What was printed, of which there should be nothing. */
  readonly printed: string;
  /** How it ended, in words: `"by itself"`, if all is well. */
  readonly ended: string;
  /** Of a page: what comes of a call without a network. */
  readonly offline?: object;
}

/** From the report to the end of the process. What would keep one alive, would do so for longer. */
const LINGER_MS = 4_000;

export interface ProcessRun {
  readonly runtime: Runtime;
  readonly format: Format;
  readonly settings: Settings;
  readonly packed: Packed;
  readonly report: Promise<Report>;
}

export async function runProcess({ runtime, format, settings, packed, report }: ProcessRun): Promise<Ran> {
  let reported: Report | undefined;
  let reportedAt = Number.POSITIVE_INFINITY;
  void report.then((given) => {
    reported = given;
    reportedAt = performance.now();
  });
  const child = spawn(runtime.executable, commandLine(runtime, format, { settings, packed }), {
    cwd: packed.folder,
    env: { PATH: process.env["PATH"], HOME: packed.folder, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), PROGRAM_LIMIT_MS);
  const ended = await new Promise<string>((resolve) => {
    child.on("error", ({ message }) => resolve(message));
    child.on("close", (code, signal) => {
      const lingeredMs = performance.now() - reportedAt;
      if (code !== 0) resolve(`with ${signal ?? code}`);
      else resolve(lingeredMs < LINGER_MS ? "by itself" : `${Math.round(lingeredMs)} ms after its report`);
    });
  });
  clearTimeout(timer);
  return { report: reported, printed: runtime.kind === "workerd" ? withoutLog(printed) : printed, ended };
}

interface Given {
  readonly settings: Settings;
  readonly packed: Packed;
}

function commandLine(runtime: Runtime, format: Format, given: Given): string[] {
  if (runtime.kind === "workerd") return ["test", configure(format, given)];
  return argumentsFor(runtime, [format === "ESM" ? "./esm.mjs" : "./cjs.cjs", JSON.stringify(given.settings)]);
}

/** The arguments of a runtime of a server that runs a program, which stands first, with arguments of its own. */
export function argumentsFor({ kind }: Runtime, program: readonly string[]): string[] {
  if (kind === "bun") return ["run", "--no-install", ...program];
  // Without the permission to read the environment: the client asks for nothing that it is not made to need.
  if (kind === "deno") {
    const flags = ["--no-prompt", "--no-config", "--no-lock", "--node-modules-dir=manual"];
    return ["run", ...flags, "--allow-net", "--allow-read", ...program];
  }
  return [...program];
}

/** workerd logs which test it ran, and each failure of the network; what it says of the program itself is left. */
function withoutLog(printed: string): string {
  const lines = printed.split("\n");
  return lines.filter((line) => !/^(?:workerd\/(?:jsg|server)\/|stack: )/.test(line)).join("\n");
}

/** A worker whose modules are the tarball's files; gives the name of its configuration. */
function configure(format: Format, { settings, packed }: Given): string {
  const copy = join(packed.folder, "package");
  if (!existsSync(copy)) cpSync(join(packed.root, "dist"), copy, { recursive: true });
  const files = readdirSync(copy, { recursive: true, encoding: "utf8" }).filter((file) => /\.c?js$/.test(file));
  const modules = files
    .filter(
      (file) =>
        !file.includes("node") && !file.includes("msw") && !file.includes("schemas") && !file.endsWith("bin.js"),
    )
    .map((file) => {
      const kind = file.endsWith(".cjs") ? "commonJsModule" : "esModule";
      return `(name = "package/${file}", ${kind} = embed "${relative(packed.folder, join(copy, file))}")`;
    });
  const name = `workerd-${format}.capnp`;
  const text = (value: string): string => JSON.stringify(value);
  writeFileSync(
    join(packed.folder, name),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .suite),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
);
const suite :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  modules = [(name = "workerd.js", esModule = embed "workerd.js"), ${modules.join(", ")}],
  bindings = [
    (name = "FORMAT", text = ${text(format)}),
    (name = "SETTINGS", text = ${text(JSON.stringify(settings))}),
  ],
);
`,
  );
  return name;
}
