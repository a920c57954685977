/** Draws the pictures of the documents from the committed results: `npm run bench:pictures`. */

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { overhead, size } from "./bars.ts";
import { bulkTerminal } from "./bulk-terminal.ts";
import { herd } from "./herd.ts";
import { pause } from "./pause.ts";
import { rotation } from "./rotation.ts";
import { svgOf } from "./svg.ts";

export const root: string = join(import.meta.dirname, "../..");

const pictures = {
  "herd.svg": herd,
  "pause.svg": pause,
  "rotation.svg": rotation,
  "bulk-terminal.svg": bulkTerminal,
  "overhead.svg": overhead,
  "size.svg": size,
};

/** Pictures of the real page, taken by `record-page.ts`. */
export const PHOTOGRAPHS = [
  ["light", "page-light.webp"],
  ["dark", "page-dark.webp"],
] as const;

/** Returns the drawn files of `docs/assets` by their names: the pictures, and the `alt` text of each. */
export function drawn(): Readonly<Record<string, string>> {
  const found = Object.entries(pictures).map(([file, picture]) => ({ file, picture: picture() }));
  const alts = Object.fromEntries(found.map(({ file, picture }) => [file, picture.alt]));
  const files = found.map(({ file, picture }) => [file, svgOf(picture)] as const);
  return { ...Object.fromEntries(files), "alt.json": `${JSON.stringify(alts, null, 2)}\n` };
}

/** Returns a document whose pictures have their `alt` texts. */
export function withAlts(markdown: string, alts: Readonly<Record<string, string>>): string {
  const image = /!\[[^\]]*\]\(([^)\s]*assets\/([\w-]+\.svg))\)/g;
  return markdown.replace(image, (_, url: string, file: string) => `![${alts[file] ?? ""}](${url})`);
}

/** The documents that may show pictures. */
export const documents: readonly string[] = globSync(["*.md", "docs/**/*.md", "bench/*.md"], { cwd: root });

if (process.argv[1] === import.meta.filename) {
  const files = drawn();
  for (const [file, content] of Object.entries(files)) writeFileSync(join(root, "docs/assets", file), content);
  const alts = JSON.parse(files["alt.json"] ?? "{}");
  for (const file of documents) {
    const text = readFileSync(join(root, file), "utf8");
    if (withAlts(text, alts) !== text) writeFileSync(join(root, file), withAlts(text, alts));
  }
}
