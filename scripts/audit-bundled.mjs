/**
 * Asks the registry for known vulnerabilities of exactly the packages that are bundled into the published files, as
 * `dist/sbom.cdx.json` lists them: `npm audit` on a lock file of nothing else. Where the registry cannot be asked, it says
 * so and passes, unless `--strict` is given, as in continuous integration.
 *
 * Usage: node scripts/audit-bundled.mjs [--strict]
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const isStrict = process.argv.includes("--strict");
const { components } = JSON.parse(readFileSync("dist/sbom.cdx.json", "utf8"));
const bundled = components.map(({ name, version }) => `${name} ${version}`).join(", ");

const folder = mkdtempSync(join(tmpdir(), "project-automation-"));
try {
  const dependencies = Object.fromEntries(components.map(({ name, version }) => [name, version]));
  const project = { name: "bundled", version: "0.0.0", private: true, dependencies };
  const packages = Object.fromEntries(components.map(({ name, version }) => [`node_modules/${name}`, { version }]));
  write("package.json", project);
  write("package-lock.json", {
    ...project,
    lockfileVersion: 3,
    requires: true,
    packages: { "": project, ...packages },
  });
  const { stdout, error } = spawnSync("npm", ["audit", "--json", "--package-lock-only", "--audit-level=none"], {
    cwd: folder,
    encoding: "utf8",
    shell: process.platform === "win32",
    timeout: 60_000,
  });
  judge(parse(stdout), error);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function judge(report, error) {
  if (report?.vulnerabilities === undefined) {
    const why = report?.message ?? error?.message ?? "npm audit printed no report";
    console.log(`audit: the registry could not be asked about ${bundled}: ${why}`);
    if (isStrict) process.exitCode = 1;
    return;
  }
  const found = Object.values(report.vulnerabilities);
  for (const { name, severity, via } of found) {
    const titles = via.map((advisory) => advisory.title ?? advisory).join("; ");
    console.error(`audit: ${name} is bundled and has a known vulnerability (${severity}): ${titles}`);
  }
  if (found.length > 0) process.exitCode = 1;
  else console.log(`audit: no known vulnerability of ${bundled}`);
}

function write(file, content) {
  writeFileSync(join(folder, file), JSON.stringify(content));
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
