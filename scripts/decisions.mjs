/** The records of decisions and their index: one page each, in force or superseded, in a folder of its own. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "docs/decisions";

/** What is wrong with the index `docs/decisions/README.md` and the pages that it lists. */
export function decisionProblems() {
  const index = readFileSync(join(FOLDER, "README.md"), "utf8");
  const rows = [...index.matchAll(/^\| \[(\d+)\]\(([^)]+)\) \| (.+) \|$/gm)].map(([, number, file, title]) => ({
    number: Number(number),
    file,
    title,
  }));
  const pages = [
    ...pagesIn(".").filter((file) => file !== "README.md"),
    ...pagesIn("superseded").map((file) => `superseded/${file}`),
  ];
  const problems = [];
  const expect = (isTrue, what) => isTrue || problems.push(`${FOLDER}: ${what}`);
  expect(
    rows.map(({ file }) => file).join("\n") === pages.join("\n"),
    `the index does not list these pages, each once and in this order: ${pages.join(", ")}`,
  );
  for (const { number, file, title } of rows.filter((row) => pages.includes(row.file))) {
    const text = readFileSync(join(FOLDER, file), "utf8");
    expect(
      file.replace("superseded/", "").startsWith(`${String(number).padStart(4, "0")}-`),
      `${file} is not ${number}`,
    );
    expect(text.startsWith(`# ${number}. `), `${file} does not begin with "# ${number}. "`);
    const [, successor, reason] = /\*\*Superseded by \[(\d+)\]\([^)]+\)\.\*\*\s+(\S.{20})?/.exec(text) ?? [];
    expect((successor !== undefined) === file.startsWith("superseded/"), `${file} is in the wrong folder`);
    expect(/\(superseded by (\d+)\)$/.exec(title)?.[1] === successor, `${file}: the index names another successor`);
    if (successor === undefined) continue;
    expect(Number(successor) > number, `${file} is superseded by an earlier one`);
    expect(reason !== undefined, `${file} does not say why it is superseded`);
  }
  return problems;
}

function pagesIn(folder) {
  return readdirSync(join(FOLDER, folder))
    .filter((file) => file.endsWith(".md"))
    .sort();
}
