/**
 * The version of the package where it stands beside `package.json`: in the sources, and as a heading of the changelog.
 *
 * Usage: node scripts/version.mjs            as `npm version` runs it: writes both; a section that is there stays
 *        node scripts/version.mjs --notes    prints the section of this version, without its heading
 */
import { readFileSync, writeFileSync } from "node:fs";

const SOURCE = "src/client/version.ts";
const CHANGELOG = "CHANGELOG.md";
const IN_SOURCE = /(?<=VERSION = ")[^"]+(?=")/;
/** There has to be something to say: a release without a change for users is none. */
const UNRELEASED = /^## Unreleased\n\n(?=\S)(?!## )/m;

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const source = readFileSync(SOURCE, "utf8");
const changelog = readFileSync(CHANGELOG, "utf8");
const [, mode] = process.argv.slice(1);

if (mode === "--notes") console.log(notes() ?? fail(`${CHANGELOG} has no section of ${version}`));
else write();

/** The first version has its section from the start; the section of each later one is what was unreleased. */
function write() {
  const has = { unreleased: UNRELEASED.test(changelog), section: notes() !== undefined };
  if (has.section && has.unreleased) fail(`${CHANGELOG} has a section of ${version}, and changes that are unreleased`);
  if (!has.section && !has.unreleased) fail(`${CHANGELOG} has nothing that could become ${version}: ${UNRELEASED}`);
  const heading = `## Unreleased\n\n## ${version} – ${new Date().toISOString().slice(0, 10)}\n\n`;
  writeFileSync(CHANGELOG, changelog.replace(UNRELEASED, heading));
  writeFileSync(SOURCE, source.replace(IN_SOURCE, version));
}

function notes() {
  const sections = changelog.split(/^## /m).slice(1);
  const own = sections.find((section) => section.startsWith(`${version} `) || section.startsWith(`${version}\n`));
  return own?.replace(/^.*\n/, "").trim() || undefined;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
