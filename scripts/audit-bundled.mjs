/**
 * Asks the registry for known vulnerabilities of exactly the packages that are bundled into the published files, as
 * `dist/sbom.cdx.json` lists them: `npm audit` on a lock file of nothing else.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { components } = JSON.parse(readFileSync("dist/sbom.cdx.json", "utf8"));
const dependencies = Object.fromEntries(components.map(({ name, version }) => [name, version]));
const packages = Object.fromEntries(components.map(({ name, version }) => [`node_modules/${name}`, { version }]));
const project = { name: "bundled", version: "0.0.0", dependencies };

const cwd = mkdtempSync(join(tmpdir(), "project-automation-"));
const lock = { ...project, lockfileVersion: 3, packages: { "": project, ...packages } };
writeFileSync(join(cwd, "package.json"), JSON.stringify(project));
writeFileSync(join(cwd, "package-lock.json"), JSON.stringify(lock));
console.log("bundled:", dependencies);
process.exitCode = spawnSync("npm", ["audit", "--package-lock-only"], { cwd, stdio: "inherit" }).status ?? 1;
rmSync(cwd, { recursive: true });
