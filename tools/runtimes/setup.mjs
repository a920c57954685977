/**
 * Installs the runtimes that `test/client/runtimes` runs the package on, at the locked versions, unless they are there. Nothing
 * but `.ci/run` starts it by itself; it needs Node 20 or later, and npm.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const here = new URL("./", import.meta.url);

if (process.platform !== "linux" || process.arch !== "x64") {
  console.log(`there are no runtimes for ${process.platform}-${process.arch}, only for linux-x64`);
} else if (isInstalled()) {
  console.log("the runtimes are there");
} else {
  // No package gets to run a script: each holds its binary as it is.
  const { status, error, stdout, stderr } = spawnSync(
    "npm",
    ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
    { cwd: here, encoding: "utf8", shell: process.platform === "win32" },
  );
  if (status !== 0) {
    console.error(`the runtimes could not be installed\n${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}`);
    process.exit(status || 1);
  }
  console.log("the runtimes are installed");
}

/** Whether `node_modules` holds what the lock file asks for, by the record that npm leaves there. */
function isInstalled() {
  const record = new URL("node_modules/.package-lock.json", here);
  if (!existsSync(record)) return false;
  const found = packagesIn(record);
  return Object.entries(packagesIn(new URL("package-lock.json", here))).every(
    ([path, { version }]) => path === "" || found[path]?.version === version,
  );
}

function packagesIn(lock) {
  return JSON.parse(readFileSync(lock, "utf8")).packages;
}
