/** Makes the programs under test of their sources: the suite is bundled, the package never. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const html = (script: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Test</title><body><script type="module" src="/site/${script}"></script></body></html>`;

/** Into a project that has the package installed: programs at its root, what browsers open in `site`. */
export async function buildPrograms(folder: string): Promise<void> {
  const site = join(folder, "site");
  mkdirSync(site);
  for (const name of ["page", "frame"]) writeFileSync(join(site, `${name}.html`), html(`${name}.js`));
  await Promise.all([
    bundle("esm", join(folder, "esm.mjs")),
    bundle("cjs", join(folder, "cjs.cjs")),
    bundle("sanitized", join(folder, "sanitized.mjs")),
    bundle("workerd", join(folder, "workerd.js")),
    ...["page", "frame", "worker"].map((name) => bundle(name, join(site, `${name}.js`))),
  ]);
}

async function bundle(name: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, "programs", `${name}.ts`)],
    outfile,
    bundle: true,
    format: outfile.endsWith(".cjs") ? "cjs" : "esm",
    platform: "neutral",
    target: "es2022",
    external: ["project-automation", "project-automation/*", "node:*"],
    logLevel: "silent",
  });
}
