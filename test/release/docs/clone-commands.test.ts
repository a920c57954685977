/** The commands for a clone: README.md, CONTRIBUTING.md and `.ci/run` name the same ones, and say the same about Node. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8").replaceAll("\r\n", "\n");

/** The section of each page that begins with the commands. */
const SECTIONS = { "README.md": "In a clone", "CONTRIBUTING.md": "From clone to green" };
const PAGES = Object.keys(SECTIONS);

/** The commands in the first block of a page's section, without their comments. */
const commandsOf = ([page, heading]: readonly [string, string]): readonly string[] => {
  const [, section = ""] = read(page).split(`\n## ${heading}\n`);
  const [, block = ""] = /^[^#]*?^```sh\n(.*?)^```$/ms.exec(section) ?? [];
  return block
    .split("\n")
    .map((line) => line.replace(/ +#.*/, ""))
    .filter(Boolean);
};
const commands = [...new Set(Object.entries(SECTIONS).flatMap(commandsOf))];

test("the pages name commands of package.json, each a line with its purpose", () => {
  expect(commands.slice(0, 2)).toEqual(["npm start", "npm test"]);
  expect(commands).toContain("npm run check");
  for (const command of ["npm start", "npm test"]) {
    for (const page of PAGES) expect(read(page)).toMatch(new RegExp(`^${command} +# `, "m"));
  }
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  for (const command of commands) {
    const script = command.replace(/^npm (?:run )?/, "");
    // What runs before it installs and builds: nothing has to be done first.
    expect([command, scripts[`pre${script}`], scripts[script]]).toEqual([
      command,
      "node scripts/setup.mjs",
      expect.any(String),
    ]);
  }
});

test("continuous integration runs the commands of the pages, and no others", () => {
  const [, finds = ""] = /^commands=\$\((.*)\)$/m.exec(read(".ci/run")) ?? [];
  const found = execFileSync("bash", ["-c", finds], { cwd: root, encoding: "utf8" });
  expect(found.trimEnd().split("\n")).toEqual(commands);
});
