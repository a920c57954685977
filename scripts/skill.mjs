/**
 * Writes the skill for coding agents from `llms.txt`: the same text behind the front matter that agents look for, with links
 * from its own folder.
 *
 * Usage: node scripts/skill.mjs
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { pathToFileURL } from "node:url";

export const SKILL = "skills/project-automation/SKILL.md";
const SOURCE = "llms.txt";
/** An agent decides by this text whether it reads the rest. */
const DESCRIPTION =
  "Write or review TypeScript and JavaScript that uses the project-automation package: calls, lists, errors, retries, rate limits, tokens, bulk writes, tests. Use it whenever code imports project-automation.";

/** The skill that a text of `llms.txt` makes. */
export function skillOf(text) {
  const up = relative(dirname(SKILL), ".").replaceAll("\\", "/");
  const content = text.replaceAll(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, `](${up}/$1)`);
  return `---\nname: project-automation\ndescription: "${DESCRIPTION}"\n---\n\n<!-- Written by scripts/skill.mjs from ${SOURCE}. -->\n\n${content}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  mkdirSync(dirname(SKILL), { recursive: true });
  writeFileSync(SKILL, skillOf(readFileSync(SOURCE, "utf8")));
}
