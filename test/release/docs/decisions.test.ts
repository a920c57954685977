/** The index of the decisions and their pages. */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const folder = resolve(import.meta.dirname, "../../../docs/decisions");
const read = (file: string): string => readFileSync(resolve(folder, file), "utf8");
const pages = readdirSync(folder).filter((file) => file !== "README.md");
const index = [...read("README.md").matchAll(/^\| \[(\d+)\]\(([^)]+)\) \| (.+) \|$/gm)].map(
  ([, number = "", file = "", title = ""]) => ({ number: Number(number), file, title }),
);

test("the index has each page once, in order", () => {
  expect(index.map(({ file }) => file)).toEqual(pages.sort());
});

test.each(index)("$file has the number of its line and its file", ({ number, file }) => {
  expect(file).toMatch(new RegExp(`^${String(number).padStart(4, "0")}-`));
  expect(read(file)).toMatch(new RegExp(`^# ${number}\\. `));
});

test("a page that is superseded names a later one with the reason, and the index says so", () => {
  for (const { number, file, title } of index) {
    const [, by, successor = "", reason = ""] =
      /\*\*Superseded by \[(\d+)\]\(([^)]+)\)\.\*\*\s+(\S.{20})/.exec(read(file)) ?? [];
    expect(/\(superseded by (\d+)\)$/.exec(title)?.[1], file).toBe(by);
    if (by === undefined) continue;
    expect(Number(by)).toBeGreaterThan(number);
    expect(pages).toContain(successor);
    expect(reason).not.toBe("");
  }
});
