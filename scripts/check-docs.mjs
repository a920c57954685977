/**
 * Checks that the documents speak of what is there: every relative link, every path in backticks, every import of this
 * package and every `npm run` in a Markdown file.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const exclude = (path) => /(^|\/)(node_modules|dist|\.git)$/.test(path);
const files = globSync("**/*", { exclude }).map((path) => path.replaceAll("\\", "/"));
const names = new Set(files.map((file) => basename(file)));
const roots = new Set([...files, ...globSync(".*")].map((file) => file.split("/")[0]));
const { name, exports, scripts } = JSON.parse(readFileSync("package.json", "utf8"));

const problems = [];
for (const document of files.filter((file) => file.endsWith(".md"))) {
  const text = readFileSync(document, "utf8");
  const expect = (found, what) => found || problems.push(`${document}: ${what}`);

  for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    const path = target.replace(/#.*/, "");
    if (path !== "" && !/^[a-z]+:/.test(target)) expect(existsSync(join(dirname(document), path)), `link to ${target}`);
  }
  for (const [, code] of text.replaceAll(/^```.*?^```/gms, "").matchAll(/`([^`\n]+)`/g)) {
    expect(isThere(code, document), `\`${code}\``);
  }
  for (const [, script] of text.matchAll(/npm run ([\w:-]+)/g)) expect(script in scripts, `npm run ${script}`);
  for (const [, door = ""] of text.matchAll(new RegExp(`["'\`]${name}((?:/[\\w.-]+)+)["'\`]`, "g"))) {
    expect(`.${door}` in exports, `${name}${door}`);
  }
}
if (problems.length > 0) {
  console.error(`Documents mention what is not there:\n${problems.join("\n")}`);
  process.exit(1);
}
console.log("docs: every path, script and entry point they mention exists");

/** Whether code in backticks is something else than a path of this repository, or a path that exists. */
function isThere(code, document) {
  const path = code.replace(/:\d+$/, "").replace(/\/$/, "");
  if (!/^[\w.@*{},/-]+$/.test(path)) return true;
  if (!path.includes("/"))
    return !/^[\w.-]+\.(ts|mjs|cjs|md|jsonc?|ya?ml)$/.test(path) || names.has(path) || existsSync(path);
  const local = path.startsWith("./") || path.startsWith("../");
  if (!local && !roots.has(path.split("/")[0])) return true;
  const from = local ? join(dirname(document), path) : path;
  return path.includes("*") ? globSync(from).length > 0 : existsSync(from);
}
