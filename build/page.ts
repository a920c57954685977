/**
 * Writes `src/page/document.ts`, the page of the emulator as one text, from the files in `src/page/browser/`.
 * With `--check`, compares it with what is there.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

/** Later ones win. */
const STYLES = ["colours.css", "page.css", "line.css", "requests.css", "side.css", "narrow.css"];
const ROOM = fileURLToPath(new URL("../src/page/", import.meta.url));

/** The module that holds the page, as it should be. */
export async function documentModule(): Promise<string> {
  const read = (file: string): string => readFileSync(`${ROOM}browser/${file}`, "utf8");
  const { outputFiles } = await build({
    entryPoints: [`${ROOM}browser/main.ts`],
    bundle: true,
    charset: "utf8",
    format: "iife",
    platform: "browser",
    target: "es2022",
    minify: true,
    write: false,
  });
  const script = outputFiles[0]?.text.trim() ?? "";
  const { code: style } = await transform(STYLES.map(read).join(""), { loader: "css", minify: true });
  const html = read("page.html")
    .replaceAll(/>\n\s*</g, "><")
    .replace("<style></style>", () => `<style>${style.trim()}</style>`)
    .replace("<script></script>", () => `<script>${script}</script>`);
  if (script.includes("</script")) throw new Error("the script ends its own element");
  return `/** The page, written by build/page.ts from browser/. */\nexport const DOCUMENT: string = ${JSON.stringify(html)};\n`;
}

if (process.argv[1] === import.meta.filename) {
  const file = `${ROOM}document.ts`;
  const text = await documentModule();
  if (!process.argv.includes("--check")) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) throw new Error(`${file} is out of date: npm run docs`);
}
