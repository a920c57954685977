/**
 * Writes the API reference, `docs/api/*.md`, from the docstrings; with `--check`, compares it with what is there. Fails on
 * a public name without a docstring and on a link that leads nowhere. No line numbers: they would change with every edit.
 * The main entry point has a page for each subject (`config/api-pages.cjs`), each other one has one page.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import apiPages from "../config/api-pages.cjs";
import { deadLinks } from "./document-links.mjs";

const { name, exports: published } = JSON.parse(readFileSync("package.json", "utf8"));

const FOLDER = "docs/api";

const generated = mkdtempSync(join(tmpdir(), "project-automation-reference-"));
try {
  generate(generated);
  if (process.argv.includes("--check")) {
    const stale = differences(generated, FOLDER);
    if (stale.length > 0) fail(`${FOLDER} is not what the docstrings say; run: npm run docs\n${stale.join("\n")}`);
    console.log(`${FOLDER}: ${filesOf(FOLDER).length} files, as the docstrings say`);
  } else {
    rmSync(FOLDER, { recursive: true, force: true });
    cpSync(generated, FOLDER, { recursive: true });
    console.log(`${FOLDER}: ${filesOf(FOLDER).length} files written`);
  }
} finally {
  rmSync(generated, { recursive: true, force: true });
}

function generate(folder) {
  const typedoc = "node_modules/typedoc/bin/typedoc";
  const options = ["--options", "config/typedoc.cjs", "--disableSources", "--router", "module", "--markdown", folder];
  const { status } = spawnSync(process.execPath, [typedoc, ...options, "--logLevel", "Warn"], { stdio: "inherit" });
  if (status !== 0) fail("typedoc failed");
  const pages = Object.entries(apiPages.SUBJECTS).map(([file, { title }]) => ({ file, title }));
  const entries = Object.keys(published)
    .filter((entry) => entry !== "." && entry !== "./package.json")
    .map((entry) => ({ file: entry.slice(2), title: name + entry.slice(1) }));
  for (const { file, title } of [...pages, ...entries]) {
    const path = join(folder, `${file}.md`);
    writeFileSync(path, readFileSync(path, "utf8").replace(/^# .*$/m, `# ${title}`));
  }
  const list = (files) => files.map(({ file, title }) => `- [${title}](${file}.md)`).join("\n");
  const index = `# API reference\n\nWritten from the docstrings. \`${name}\`, by subject:\n\n${list(pages)}\n\nThe other entry points:\n\n${list(entries)}\n`;
  writeFileSync(join(folder, "README.md"), index);
  // typedoc also numbers a heading whose namesake, a method in a table, has none.
  for (const problem of deadLinks(folder, filesOf(folder))) {
    const [, file, anchor] = /^(.*): anchor of \S*#(\S+)-1$/.exec(problem) ?? fail(problem);
    const text = readFileSync(join(folder, file), "utf8");
    writeFileSync(join(folder, file), text.replaceAll(`#${anchor}-1)`, `#${anchor})`));
  }
}

/** The files that are in one folder alone, or differ. */
function differences(expected, found) {
  return [...new Set([...filesOf(expected), ...filesOf(found)])]
    .filter((file) => contentOf(join(expected, file)) !== contentOf(join(found, file)))
    .map((file) => `${found}/${file}`);
}

function filesOf(folder) {
  return globSync("**/*.md", { cwd: folder }).map((file) => file.replaceAll("\\", "/"));
}

function contentOf(file) {
  return existsSync(file) ? readFileSync(file, "utf8").replaceAll("\r\n", "\n") : undefined;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
