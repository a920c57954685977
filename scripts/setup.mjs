/**
 * Brings a clone to where its npm scripts can run: the locked dependencies in `node_modules`, the present sources in
 * `dist`. It runs before `npm start`, `npm test` and `npm run check`, on any Node from 20 on, so it uses nothing but
 * Node and npm. With nothing to do it takes some milliseconds.
 *
 * The development tools need Node 22.18 or later. Where npm runs on an older one, the private workspace `tools/node`
 * is installed too: it puts a newer `node` into `node_modules/.bin`, which npm scripts find first.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const modules = join(root, "node_modules");
const ownNode = join(modules, ".bin", process.platform === "win32" ? "node.cmd" : "node");

const buildOutputs = [
  "dist/index.js",
  "dist/index.cjs",
  "dist/index.d.ts",
  "dist/sbom.cdx.json",
  "THIRD-PARTY-NOTICES.txt",
];
/** Everything that a build consists of, runs or reads; folders are whole. */
const buildInputs = [
  "src",
  "build",
  "config/entry-points.ts",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsup.config.ts",
];
const buildStamp = join(modules, ".cache", "project-automation", "built");

const needsOwnNode = !runsTheTools(systemNodeVersion()) || process.execPath.startsWith(modules + sep);
if (!isInstalled()) {
  run("installing", [
    "ci",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    ...(needsOwnNode ? [] : ["--no-workspaces"]),
  ]);
}
if (needsOwnNode && spawnSync(ownNode, ["--version"], { shell: process.platform === "win32" }).status !== 0) {
  fail(
    `The development tools need Node 22.18 or later; this is ${systemNodeVersion()}, and there is no newer one for this platform among the dependencies.`,
  );
}

const sources = fingerprint(buildInputs);
const isBuilt =
  existsSync(buildStamp) &&
  readFileSync(buildStamp, "utf8") === sources &&
  buildOutputs.every((output) => existsSync(join(root, output)));
if (!isBuilt) {
  run("building", ["run", "build", "--silent"]);
  mkdirSync(dirname(buildStamp), { recursive: true });
  writeFileSync(buildStamp, sources);
}

/** The version of the Node that npm itself runs on, which is not always the one that runs this script. */
function systemNodeVersion() {
  return /\bnode\/v([\d.]+)/.exec(process.env.npm_config_user_agent ?? "")?.[1] ?? process.versions.node;
}

function runsTheTools(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major >= 26 || (major === 24 && minor >= 11) || (major === 22 && minor >= 18);
}

/** Whether `node_modules` holds what the lock file asks for, by the record that npm leaves there. */
function isInstalled() {
  const record = join(modules, ".package-lock.json");
  if (!existsSync(record) || (needsOwnNode && !existsSync(ownNode))) return false;
  const found = JSON.parse(readFileSync(record, "utf8")).packages;
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  return Object.entries(wanted).every(([path, { version, link, optional }]) => {
    if (link || !path.startsWith("node_modules/")) return true;
    return found[path] === undefined ? optional === true : found[path].version === version;
  });
}

function run(what, npmArguments) {
  const started = Date.now();
  process.stdout.write(`${what} … `);
  // The npm that started this script, on the Node that npm runs on; npm by name if something else started it.
  const { npm_execpath: cli = "", npm_node_execpath: node = process.execPath } = process.env;
  const [command, prefix] = /npm-cli\.[cm]?js$/.test(cli) ? [node, [cli]] : ["npm", []];
  const { status, error, stdout, stderr } = spawnSync(command, [...prefix, ...npmArguments], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    shell: command === "npm" && process.platform === "win32",
  });
  if (status !== 0) fail(`failed\n${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}`, status);
  console.log(`done in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

function fail(message, status) {
  console.error(message);
  process.exit(status || 1);
}

function fingerprint(paths) {
  const hash = createHash("sha256");
  const add = (path) => {
    const file = join(root, path);
    if (statSync(file).isDirectory()) for (const entry of readdirSync(file).sort()) add(`${path}/${entry}`);
    else hash.update(`${path}\0`).update(readFileSync(file));
  };
  for (const path of paths) add(path);
  return hash.digest("hex");
}
