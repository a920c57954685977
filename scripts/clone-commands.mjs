/**
 * The commands that README.md and CONTRIBUTING.md name for a clone, one a line: the README's first, each of them once.
 * `.ci/run` runs these and no others, so that both pages are true.
 */
import { readFileSync } from "node:fs";

const SECTIONS = { "README.md": "In a clone", "CONTRIBUTING.md": "From clone to green" };

/** The commands in the first block of a page's section, without their comments. */
function commandsOf(page, heading) {
  const text = readFileSync(new URL(`../${page}`, import.meta.url), "utf8").replaceAll("\r\n", "\n");
  const [, section = ""] = text.split(`\n## ${heading}\n`);
  const [, block] = /^[^#]*?^```sh\n(.*?)^```$/ms.exec(section) ?? [];
  if (block === undefined) throw new Error(`${page} has no commands under "${heading}"`);
  return block
    .split("\n")
    .map((line) => line.replace(/ +#.*/, ""))
    .filter(Boolean);
}

const commands = Object.entries(SECTIONS).flatMap(([page, heading]) => commandsOf(page, heading));
console.log([...new Set(commands)].join("\n"));
