/**
 * Checks the package as it would be published: that `exports` and the files agree (publint), that the types resolve as
 * the code does (arethetypeswrong), and that what an application pays for it stays within the budget.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Bytes of a browser program, minified and gzipped: see "Guards" in docs/maintainers/decisions.md. */
const BUDGET = 48_000;

/** The packages whose shares are shown. */
const BUNDLED = ["ky", "zod", "p-retry"];

const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
const folder = mkdtempSync(join(tmpdir(), "project-automation-"));
try {
  const shell = process.platform === "win32";
  const run = (command, ...args) =>
    execFileSync(command, args, { encoding: "utf8", shell, stdio: ["ignore", "pipe", "inherit"] });
  const [{ filename }] = JSON.parse(
    run("npm", "pack", "--ignore-scripts", "--json", "--silent", "--pack-destination", folder),
  );
  const tarball = join(folder, filename);
  const check = (command, ...args) => {
    try {
      return run(command, ...args);
    } catch (error) {
      console.error(error.stdout);
      process.exit(1);
    }
  };
  check("publint", "run", tarball, "--strict");
  check("attw", tarball);
  const { analysis } = JSON.parse(check("attw", tarball, "--format", "json"));
  const unseen = Object.keys(exports).filter((entry) => !(entry in analysis.entrypoints));
  if (unseen.length > 0) fail(`arethetypeswrong did not look at ${unseen.join(", ")}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`package: exports, files and types agree (${Object.keys(exports).join(", ")})`);

/** What an application that uses the client for an everyday task adds to its bundle. */
const program = (entry) => `
  import { Client, isAutomationError } from "${entry}";
  const client = new Client({ baseUrl: location.origin, token: location.hash });
  try {
    for await (const project of client.projects.list()) console.log(project.name);
  } catch (error) {
    if (isAutomationError(error) && error.kind === "rate_limit") console.log(error.retryAfterMs);
    else throw error;
  }`;

const code = await bundle("./dist/index.js");
const size = gzipped(code);
// A package's share is what the program shrinks by without it, from the sources, where packages are files of their own.
const whole = gzipped(await bundle("./src/client/index.ts"));
const shares = [];
for (const name of BUNDLED) shares.push(`${name} ${whole - gzipped(await bundle("./src/client/index.ts", [name]))}`);
const own = gzipped(await bundle("./src/client/index.ts", BUNDLED));
console.log(`size: ${size} bytes minified and gzipped (budget ${BUDGET}); our own code ${own}, ${shares.join(", ")}`);
const told = `${Math.round(size / 1000)} kB minified and gzipped`;
if (!readFileSync("README.md", "utf8").replaceAll(/\s+/g, " ").includes(told)) fail(`README.md does not say ${told}`);
if (size > BUDGET) fail(`the browser bundle is ${size - BUDGET} bytes over its budget`);
const probe = /["']node:|\beval\(|\bFunction\(/.exec(code);
if (probe) fail(`the browser bundle contains ${code.slice(Math.max(0, probe.index - 60), probe.index + 60)}`);

async function bundle(entry, external = []) {
  const { outputFiles } = await build({
    stdin: { contents: program(entry), resolveDir: "." },
    bundle: true,
    format: "esm",
    logLevel: "error",
    minify: true,
    platform: "browser",
    target: "es2022",
    write: false,
    external: external.flatMap((name) => [name, `${name}/*`]),
  });
  return outputFiles[0].text;
}

function gzipped(text) {
  return gzipSync(text, { level: 9 }).length;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
