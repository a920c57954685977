/**
 * Writes what the published files say about the packages that are bundled into them: `THIRD-PARTY-NOTICES.txt` with
 * their licences, and `dist/sbom.cdx.json`, a CycloneDX bill of materials. Which packages these are is read from the
 * metafiles of the build, so that none can be forgotten; their hashes are those of the lock file.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const { packages: locked } = readJson("package-lock.json");
const own = readJson("package.json");

const metafiles = globSync("dist/metafile-*.json");
const bundled = [...new Set(metafiles.flatMap(packagesIn))].sort().map(describe);
for (const metafile of metafiles) rmSync(metafile);
if (bundled.length === 0) throw new Error("the metafiles of the build name no bundled package");

writeFileSync("THIRD-PARTY-NOTICES.txt", notices());
writeFileSync("dist/sbom.cdx.json", `${JSON.stringify(billOfMaterials(), undefined, 2)}\n`);

/** The packages of which code is in the files of a build. */
function packagesIn(metafile) {
  return Object.values(readJson(metafile).outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
      return name !== undefined && bytesInOutput > 0 ? [name] : [];
    }),
  );
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

/** The hash of a package's tarball, as the registry published it. */
function hashOf(integrity) {
  const [algorithm, digest] = integrity.split("-");
  return { alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(digest, "base64").toString("hex") };
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
