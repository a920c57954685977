/**
 * Installs the tools that `test/release/package` tries the packed package with, at the locked versions, unless they are there.
 * On any Node from 20 on, with nothing but Node and npm.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const here = new URL("./", import.meta.url);

if (!isInstalled()) {
  // The npm that started this script, on the Node that npm runs on; npm by name if something else started it.
  const { npm_execpath: cli = "", npm_node_execpath: node = process.execPath } = process.env;
  const [command, prefix] = /npm-cli\.[cm]?js$/.test(cli) ? [node, [cli]] : ["npm", []];
  process.stdout.write("installing the tools to try the package with … ");
  const { status, error, stdout, stderr } = spawnSync(
    command,
    [...prefix, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
    { cwd: here, encoding: "utf8", shell: command === "npm" && process.platform === "win32" },
  );
  if (status !== 0) {
    console.error(`failed\n${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}`);
    process.exit(status || 1);
  }
  console.log("done");
}

/** Whether `node_modules` holds what the lock file asks for, by the record that npm leaves there. */
function isInstalled() {
  const record = new URL("node_modules/.package-lock.json", here);
  if (!existsSync(record)) return false;
  const found = packagesIn(record);
  return Object.entries(packagesIn(new URL("package-lock.json", here))).every(
    ([path, { version, optional }]) =>
      path === "" || (found[path] === undefined ? optional === true : found[path].version === version),
  );
}

function packagesIn(lock) {
  return JSON.parse(readFileSync(lock, "utf8")).packages;
}
