/** The copy of a folder that a run has to itself. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Copies } from "../../src/explore/folder.ts";

let home: string;
let source: string;
beforeEach(async () => {
  home = await realpath(mkdtempSync(join(tmpdir(), "explored-")));
  source = join(home, "job");
  for (const folder of ["job/node_modules/own", "node_modules/above", "job/.git", "job/rows/node_modules"])
    mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(join(source, "rows", "a.csv"), "a");
  writeFileSync(join(home, "outside"), "outside");
});
afterEach(() => rmSync(home, { recursive: true }));

test("holds the files, and links to the packages: those of the folder, of its folders, and above", async () => {
  const copies = await Copies.of(source);
  const { folder, temporary, remove } = await copies.make();
  expect((await readdir(folder)).sort()).toEqual(["node_modules", "rows"]);
  expect(readFileSync(join(folder, "rows/a.csv"), "utf8")).toBe("a");
  expect(readlinkSync(join(folder, "node_modules"))).toBe(join(source, "node_modules"));
  expect(readlinkSync(join(folder, "rows/node_modules"))).toBe(join(source, "rows/node_modules"));
  expect(readlinkSync(join(folder, "../../node_modules"))).toBe(join(home, "node_modules"));
  expect(temporary.startsWith(folder)).toBe(false);
  await remove();
  expect(await readdir(copies.root)).toEqual([]);
  await copies.remove();
  await expect(readdir(copies.root)).rejects.toThrow("ENOENT");
});

test("a link, and a word of the command line, lead into the copy if they led into the folder", async () => {
  symlinkSync("rows/a.csv", join(source, "inside"));
  symlinkSync("../outside", join(source, "outside"));
  const copies = await Copies.of(source);
  const { folder, inCopy } = await copies.make();
  expect(readlinkSync(join(folder, "inside"))).toBe(join(folder, "rows/a.csv"));
  expect(readlinkSync(join(folder, "outside"))).toBe(join(home, "outside"));
  const words = ["node", join(source, "import.mjs"), `${source}-2/import.mjs`, "rows/a.csv"];
  expect(words.map(inCopy)).toEqual(["node", join(folder, "import.mjs"), `${source}-2/import.mjs`, "rows/a.csv"]);
  await copies.remove();
});

test("looks the same until a file changes; what is behind a link does not count", async () => {
  const copies = await Copies.of(source);
  const { folder, look } = await copies.make();
  const before = await look();
  writeFileSync(join(source, "node_modules", "own", "cache"), "");
  expect(await look()).toBe(before);
  writeFileSync(join(folder, "mark"), "");
  expect(await look()).not.toBe(before);
  await copies.remove();
});

test("is refused if there is too much to copy", async () => {
  writeFileSync(join(source, "movie"), "");
  truncateSync(join(source, "movie"), 201 * 2 ** 20);
  await expect(Copies.of(source)).rejects.toThrow(/too large to be copied .* as in --folder import/);
});
