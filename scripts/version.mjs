/**
 * What `npm version` does beside `package.json`: the version in the sources, and in the changelog a heading for what was
 * unreleased until now.
 */
import { readFileSync, writeFileSync } from "node:fs";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const today = new Date().toISOString().slice(0, 10);

// There has to be something to say: a release without a change for users is none.
change("CHANGELOG.md", /^## Unreleased\n\n(?=\S)(?!## )/m, `## Unreleased\n\n## ${version} – ${today}\n\n`);
change("src/client/version.ts", /(?<=VERSION = ")[^"]+(?=")/, version);

function change(file, what, by) {
  const text = readFileSync(file, "utf8");
  if (!what.test(text)) {
    console.error(`${file} has nothing that could become ${version}: ${what}`);
    process.exit(1);
  }
  writeFileSync(file, text.replace(what, by));
}
