/**
 * Writes what the published files say about the packages that are bundled into them: `THIRD-PARTY-NOTICES.txt` with
 * their licences, and `dist/sbom.cdx.json`, a CycloneDX bill of materials. Which packages these are is read from the
 * files themselves, so that none can be forgotten: esbuild begins each bundled module with a comment that names its
 * file. (The metafiles of the builds would not do: all builds of a format write the same one.) The hashes of the
 * packages are those of the lock file.
 *
 * With `--audit`, asks the registry for known vulnerabilities of exactly these packages: `npm audit` on a lock file of
 * nothing else.
 */
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { packages: locked } = readJson("package-lock.json");
const own = readJson("package.json");

const files = globSync("dist/**/*.{js,cjs}");
const bundled = [...new Set(files.flatMap(packagesIn))].sort().map(describe);
if (bundled.length === 0) throw new Error("the files in dist name no bundled package");

if (process.argv.includes("--audit")) audit();
else {
  writeFileSync("THIRD-PARTY-NOTICES.txt", notices());
  writeFileSync("dist/sbom.cdx.json", `${JSON.stringify(billOfMaterials(), undefined, 2)}\n`);
}

/** The packages of which code is in a file. */
function packagesIn(file) {
  const modules = readFileSync(file, "utf8").matchAll(
    /^\s*\/\/ node_modules\/(?:.*\/node_modules\/)?((?:@[^/]+\/)?[^/]+)\/\S+$/gm,
  );
  return Array.from(modules, ([, name]) => name);
}

function describe(name) {
  const { version, license } = readJson(`node_modules/${name}/package.json`);
  const { version: lockedVersion, integrity } = locked[`node_modules/${name}`];
  if (version !== lockedVersion) throw new Error(`${name} ${version} is installed, ${lockedVersion} is locked`);
  const [file] = globSync(`node_modules/${name}/{LICENSE,LICENCE,license,licence}{,.md,.txt}`);
  if (file === undefined) throw new Error(`${name} is bundled, but has no licence file`);
  return { name, version, license, integrity, text: readFileSync(file, "utf8").trim() };
}

function notices() {
  const intro =
    "The published files of project-automation contain code of the following packages, under these licences.\n";
  const each = bundled.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`);
  return [intro, ...each].join(`\n${"-".repeat(80)}\n\n`);
}

function billOfMaterials() {
  const component = ({ name, version, license }) => {
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    return { type: "library", "bom-ref": purl, name, version, licenses: [{ license: { id: license } }], purl };
  };
  const subject = component(own);
  const components = bundled.map((item) => ({ ...component(item), hashes: [hashOf(item.integrity)] }));
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: subject },
    components,
    dependencies: [
      { ref: subject["bom-ref"], dependsOn: components.map(({ purl }) => purl) },
      ...components.map(({ purl }) => ({ ref: purl })),
    ],
  };
}

function audit() {
  const dependencies = Object.fromEntries(bundled.map(({ name, version }) => [name, version]));
  const packages = Object.fromEntries(bundled.map(({ name, version }) => [`node_modules/${name}`, { version }]));
  const project = { name: "bundled", version: "0.0.0", dependencies };
  const cwd = mkdtempSync(join(tmpdir(), "project-automation-"));
  const lock = { ...project, lockfileVersion: 3, packages: { "": project, ...packages } };
  writeFileSync(join(cwd, "package.json"), JSON.stringify(project));
  writeFileSync(join(cwd, "package-lock.json"), JSON.stringify(lock));
  console.log("bundled:", dependencies);
  process.exitCode = spawnSync("npm", ["audit", "--package-lock-only"], { cwd, stdio: "inherit" }).status ?? 1;
  rmSync(cwd, { recursive: true });
}

/** The hash of a package's tarball, as the registry published it. */
function hashOf(integrity) {
  const [algorithm, digest] = integrity.split("-");
  return { alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(digest, "base64").toString("hex") };
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
