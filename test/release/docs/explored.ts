/** A snippet as a program that `exploreFaults` runs, in place of a process of its own. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";
import { createEmulator } from "../../../src/testing/index.ts";
import { PROGRAM_LIMIT_MS } from "../../support/limits.ts";
import { NODE } from "../../support/platforms.ts";
import { isTestProgram, type Project } from "./run.ts";
import { assumedBy, type Snippet } from "./snippets.ts";

const WRITES =
  /\b(issues\.create|tokens\.(create|rotate|revoke)|bulkWrite|rotatingToken)\(|method: "(POST|PUT|PATCH|DELETE)"/;
const OWN_SERVICE = /\b(createEmulator|startEmulator|exploreFaults)\(/;

/** Whether a snippet writes to the service that it is given. */
export function writes({ code, conditions: { notRun, rejects, faults } }: Snippet): boolean {
  const isShown = notRun === undefined && (rejects === undefined || faults !== undefined);
  return isShown && WRITES.test(code) && !OWN_SERVICE.test(code) && !isTestProgram(code);
}

const EMULATOR = { listIssues: true };
/** The id of the token that programs get: the same in each emulator with these options. */
const TOKEN_ID = createEmulator(EMULATOR).tokens.list()[0]?.id;

/** What the given names stand for, within the program. */
const GIVEN: Readonly<Record<ReturnType<typeof assumedBy>[number], string>> = {
  client: "const client = new Client();",
  store: "const store = async (id, secret) => writeFile(`${prepared}/${id}`, secret);",
  log: "const log = { error() {}, warn() {}, info() {}, log() {}, debug() {} };",
  token: "const token = clientOptions.token;",
  readSecret: "const readSecret = async () => clientOptions.token;",
};

/** A program gets a client of the exploration in its place. */
const OWN_CLIENT = 'import { automation } from "@/lib/automation";';

/** Explores the programs of a document's snippets, one after the other. Returns the findings of each by its place. */
export async function explore(project: Project, snippets: readonly Snippet[]): Promise<Record<string, string[]>> {
  const modules: Record<string, string> = {};
  for (const snippet of snippets) {
    const file = `explored-${snippet.place.replaceAll(/\W/g, "-")}.js`;
    writeFileSync(join(project.folder, file), await moduleOf(snippet));
    modules[snippet.place] = file;
  }
  const runner = join(project.folder, `explored-${Object.values(modules)[0]}.mjs`);
  writeFileSync(runner, RUNNER);
  const args = [...NODE.slice(1), runner, JSON.stringify(modules)];
  return await new Promise((resolve, reject) => {
    execFile(NODE[0], args, { cwd: project.folder, timeout: PROGRAM_LIMIT_MS }, (error, out, err) => {
      if (error === null)
        resolve(JSON.parse(out) as Record<string, string[]>); // as the runner prints it
      else reject(new Error(err));
    });
  });
}

const RUNNER = `
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { ExplorationError, exploreFaults } from "project-automation/testing/node";

const print = console.log;
for (const level of ["log", "error", "warn"]) console[level] = () => {};
process.exit = (status) => { if (status) throw new Error("ends with status " + status); };
const found = {};
for (const [place, file] of Object.entries(JSON.parse(process.argv[2]))) {
  const { program } = await import("./" + file);
  const options = {
    program,
    emulator: ${JSON.stringify(EMULATOR)},
    prepare: () => mkdtemp(tmpdir() + "/explored-"),
    dispose: (folder) => rm(folder, { recursive: true, force: true }),
  };
  const report = await exploreFaults(options).catch((error) => {
    if (error instanceof ExplorationError) return error.report;
    return { findings: [{ what: String(error?.stack) }] };
  });
  found[place] = [...new Set(report.findings.map(({ what }) => what))].sort();
}
print(JSON.stringify(found));
process.reallyExit(0);
`;

async function moduleOf(snippet: Snippet): Promise<string> {
  const { then = "" } = snippet.conditions;
  const { code } = await transform(`${snippet.code}\n${then}\nexport {};`, { loader: "ts", target: "esnext" });
  const imports = [...code.matchAll(/^import .*?;$/gms)].map(([line]) => line);
  const body = code
    .replaceAll(/^import .*?;$/gms, "")
    .replaceAll(/^export (default )?(?=async |function|class|const|let)/gm, "")
    .replaceAll(/^export default /gm, "const exported = ")
    .replaceAll(/^export \{[^}]*\};$/gm, "")
    .replaceAll('"https://automation.example.com/api/v1"', "clientOptions.baseUrl")
    .replaceAll('"tok_1"', JSON.stringify(TOKEN_ID))
    .replaceAll('"pat_key_secret"', "clientOptions.token")
    .replaceAll('"2030-01-01T00:00:00Z"', "new Date(Date.now() + 3_600_000).toISOString()")
    .replaceAll("import.meta.dirname", "prepared");
  const given = assumedBy(snippet).map((name) => GIVEN[name]);
  return `${imports
    .filter((line) => line !== OWN_CLIENT)
    .map((line) => line.replace(/\bClient\b(?=[^"]*from "project-automation")/, "Client as Made"))
    .join("\n")}
import { writeFile as writeStored } from "node:fs/promises";
import * as everything from "project-automation";

export async function program({ clientOptions, prepared }) {
  const writeFile = writeStored;
  class Client extends everything.Client {
    constructor(options) {
      super({ ...clientOptions, ...options });
    }
  }
  process.chdir(prepared);
  process.env.PROJECT_AUTOMATION_BASE_URL = clientOptions.baseUrl;
  process.env.PROJECT_AUTOMATION_TOKEN = clientOptions.token;
  process.exitCode = undefined;
  {
    const automation = () => new Client();
    ${given.join("\n")}
    ${body}
  }
  const status = process.exitCode;
  process.exitCode = undefined;
  if (status) throw new Error("ends with status " + status);
}
`;
}
