/** Draws the pictures of the documents from the committed results: `npm run bench:pictures`. */

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { memory, overhead, size } from "./bars.ts";
import { bulkTerminal } from "./bulk-terminal.ts";
import { herd } from "./herd.ts";
import { house } from "./house.ts";
import { outcome } from "./outcome.ts";
import { pause } from "./pause.ts";
import { svgOf } from "./svg.ts";

const pictures = {
  "herd.svg": herd,
  "pause.svg": pause,
  "outcome.svg": outcome,
  "bulk-terminal.svg": bulkTerminal,
  "house.svg": house,
  "overhead.svg": overhead,
  "size.svg": size,
  "memory.svg": memory,
};

/** Returns the files of `docs/assets` by their names: the pictures, and the `alt` text of each. */
export function drawn(): Readonly<Record<string, string>> {
  const found = Object.entries(pictures).map(([file, picture]) => ({ file, picture: picture() }));
  const alts = Object.fromEntries(found.map(({ file, picture }) => [file, picture.alt]));
  const files = found.map(({ file, picture }) => [file, svgOf(picture)] as const);
  return { ...Object.fromEntries(files), "alt.json": `${JSON.stringify(alts, null, 2)}\n` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = new URL("../../docs/assets/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [file, content] of Object.entries(drawn())) writeFileSync(new URL(file, folder), content);
}
