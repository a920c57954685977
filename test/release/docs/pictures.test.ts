/** The pictures of the documents are drawn from the committed results, and every text with numbers agrees with them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { documents, drawn, PHOTOGRAPHS, root, withAlts } from "../../../bench/pictures/index.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const files = drawn();
const alts = JSON.parse(files["alt.json"] ?? "") as Record<string, string>; // as it is drawn
const shown = documents.map((file) => ({ file, text: read(file) })).filter(({ text }) => /assets\//.test(text));

test("docs/assets holds the pictures, and nothing else", () => {
  expect(readdirSync(join(root, "docs/assets")).sort()).toEqual(
    [...Object.keys(files), ...PHOTOGRAPHS.map(([, file]) => file)].sort(),
  );
});

test.each(Object.entries(files))("%s is drawn from the results (npm run bench:pictures)", (file, content) => {
  expect(read(`docs/assets/${file}`)).toBe(content);
});

test("documents show pictures that exist, with their alternative texts", () => {
  expect(shown.length).toBeGreaterThan(0);
  for (const { file, text } of shown) {
    expect(withAlts(text, alts), file).toBe(text);
    for (const [, url = ""] of text.matchAll(/(?:!\[[^\]]*\]\(|src(?:set)?=")([^)"\s]+)/g)) {
      const path = /^https?:/.test(url) ? url.replace(/^.*\/(?=docs\/assets\/)/, "") : join(dirname(file), url);
      if (path.includes("assets/")) expect(existsSync(join(root, path)), `${file}: ${url}`).toBe(true);
    }
  }
});
