/** The pictures of the documents are drawn from the committed results, and every text with numbers agrees with them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { documents, drawn, root, withAlts } from "../../../bench/pictures/index.ts";
import type { Outcome } from "../../../src/client/index.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const OUTCOMES: Readonly<Record<Outcome, true>> = { not_sent: true, rejected: true, unknown: true, accepted: true };
const files = drawn();
const pictures = Object.entries(files).filter(([file]) => file.endsWith(".svg"));
const alts = JSON.parse(files["alt.json"] ?? "") as Record<string, string>; // as it is drawn
const shown = documents.map((file) => ({ file, text: read(file) })).filter(({ text }) => /!\[.*assets\//.test(text));

test("docs/assets holds the pictures, and nothing else", () => {
  expect(readdirSync(join(root, "docs/assets")).sort()).toEqual(Object.keys(files).sort());
});

test.each(Object.entries(files))("%s is drawn from the results (npm run bench:pictures)", (file, content) => {
  expect(read(`docs/assets/${file}`)).toBe(content);
});

test.each(pictures)("%s is small, needs nothing else, and can be read aloud", (file, content) => {
  expect(Buffer.byteLength(content)).toBeLessThanOrEqual(30_000);
  expect(content.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(/https?:|href|url\(|@import|<script/);
  expect(content).toContain("prefers-color-scheme:dark");
  expect(content).toMatch(/<title id="t">.{10,}<\/title>\n<desc id="d">.{40,}<\/desc>/);
  expect(alts[file]).not.toMatch(/NaN|undefined|[[\]\n]/);
});

test.each(pictures)("every number of %s stands in its alternative text or on an axis", (file, content) => {
  const axis = /class="s[ "]|class="code/; // secondary text: axes, units, the terminal
  const told = (alts[file] ?? "").replaceAll(",", "");
  const texts = [...content.matchAll(/<text ([^>]*)>(.*?)<\/text>/g)].filter(
    ([, attributes = ""]) => !axis.test(attributes),
  );
  for (const [, , text = ""] of texts) {
    for (const [number] of text.replaceAll(",", "").matchAll(/\d+(?:\.\d+)?/g)) expect(told, text).toContain(number);
  }
});

test("no line of the terminal is longer than the picture is wide", () => {
  const lines = [...(files["bulk-terminal.svg"] ?? "").matchAll(/<text [^>]*>(.*?)<\/text>/g)].map(
    ([, line = ""]) => line,
  );
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((line) => line.length > 67)).toEqual([]);
});

test("documents show pictures that exist, with their alternative texts", () => {
  expect(shown.length).toBeGreaterThan(0);
  for (const { file, text } of shown) {
    expect(withAlts(text, alts), file).toBe(text);
    for (const [, url = ""] of text.matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g)) {
      const path = /^https?:/.test(url) ? url.replace(/^.*\/(?=docs\/assets\/)/, "") : join(dirname(file), url);
      if (path.includes("assets/")) expect(existsSync(join(root, path)), `${file}: ${url}`).toBe(true);
    }
  }
});

test("numbers with a unit in the text of docs/performance.md stand in one of its pictures", () => {
  const page = read("docs/performance.md");
  const told = [...page.matchAll(/!\[([^\]]*)\]/g)].map(([, alt]) => alt).join(" ");
  const prose = page.replace(/!\[[^\]]*\]/g, "");
  for (const [figure] of prose.matchAll(/[\d.,]*\d(?= (?:µs|ms|kB|MB))/g)) expect(told).toContain(figure);
});

test("outcome.svg has the outcomes of the code, and house.svg rooms and stages that exist", () => {
  expect([...(files["outcome.svg"] ?? "").matchAll(/>(\w+)<\/text>/g)].map(([, name]) => name)).toEqual(
    expect.arrayContaining(Object.keys(OUTCOMES)),
  );
  const rooms = alts["house.svg"]?.matchAll(/(?:core\/)?(?:call\/\w+|[a-z-]+\/)|bin\.ts/g) ?? [];
  for (const [room] of rooms) {
    const path = join(root, "src", room);
    expect([path, `${path}.ts`].some(existsSync) || room === "src/", room).toBe(true);
  }
});
