/**
 * Writes THIRD-PARTY-NOTICES.txt: the licence of every package whose code is part of the published files. Which ones
 * those are is read from the source maps of the build, so that none can be forgotten.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";

const names = new Set(
  globSync("dist/**/*.map")
    .flatMap((map) => JSON.parse(readFileSync(map, "utf8")).sources)
    .flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []),
);

const notices = [...names].sort().map((name) => {
  const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  const [file] = globSync(`node_modules/${name}/{LICENSE,LICENCE,license,licence}{,.md,.txt}`);
  if (file === undefined) throw new Error(`${name} is bundled, but has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(file, "utf8").trim()}\n`;
});

const intro =
  "The published files of project-automation contain code of the following packages, under these licences.\n";
writeFileSync("THIRD-PARTY-NOTICES.txt", [intro, ...notices].join(`\n${"-".repeat(80)}\n\n`));
