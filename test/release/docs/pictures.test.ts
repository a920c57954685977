/** The pictures of the documents are drawn from the committed results, and every text with numbers agrees with them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { documents, drawn, root, withAlts } from "../../../bench/pictures/index.ts";
import type { Outcome } from "../../../src/client/index.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const OUTCOMES: Readonly<Record<Outcome, true>> = { not_sent: true, rejected: true, unknown: true, accepted: true };
const files = drawn();
const alts = JSON.parse(files["alt.json"] ?? "") as Record<string, string>; // as it is drawn
const shown = documents.map((file) => ({ file, text: read(file) })).filter(({ text }) => /!\[.*assets\//.test(text));

test("docs/assets holds the pictures, and nothing else", () => {
  expect(readdirSync(join(root, "docs/assets")).sort()).toEqual(Object.keys(files).sort());
});

test.each(Object.entries(files))("%s is drawn from the results (npm run bench:pictures)", (file, content) => {
  expect(read(`docs/assets/${file}`)).toBe(content);
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
