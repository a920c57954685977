/** What a program that lists one page weighs, bundled and minified, and how long it takes to load the client. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { spreadOf } from "../../support/statistics.ts";
import { type Bench, round, type Section } from "../bench.ts";
import { OURS } from "../contenders.ts";

export const name = "size";

const here = fileURLToPath(new URL("../../", import.meta.url));

/** By contender: what is imported, and what is done with it. */
const PROGRAMS: Readonly<Record<string, { readonly from: string; readonly names: string; readonly use: string }>> = {
  [OURS]: { from: OURS, names: "{ Client }", use: "new Client().projects.list().toArray({ max: 50 })" },
  ky: { from: "ky", names: "ky", use: 'ky.get("https://service.example/projects").json()' },
  openai: { from: "openai", names: "{ OpenAI }", use: "new OpenAI().files.list()" },
  anthropic: { from: "@anthropic-ai/sdk", names: "{ Anthropic }", use: "new Anthropic().models.list()" },
  notion: { from: "@notionhq/client", names: "{ Client }", use: "new Client().users.list({})" },
  octokit: { from: "@octokit/rest", names: "{ Octokit }", use: 'new Octokit().paginate("GET /events")' },
  stripe: { from: "stripe", names: "{ Stripe }", use: 'new Stripe("key").customers.list()' },
};

export async function run(bench: Bench): Promise<Section[]> {
  bench.progress("size");
  const chosen = Object.entries(PROGRAMS).filter(
    ([contender]) => bench.contenders.length === 0 || bench.contenders.includes(contender),
  );
  const ours = join(bench.package, "dist/index.js");
  const loads = new Map<string, number[]>(chosen.map(([contender]) => [contender, []]));
  for (let round = 0; round < (bench.quick ? 5 : 15); round += 1) {
    for (const [contender, { from }] of chosen) loads.get(contender)?.push(loadMs(from === OURS ? ours : from));
  }
  const figures = await Promise.all(
    chosen.map(async ([contender, { from, names, use }]) => {
      const program = `import ${names} from ${JSON.stringify(from === OURS ? ours : from)};\nconsole.log(await ${use});`;
      return { contender, ...(await sizeOf(program)), loadMs: spreadOf(loads.get(contender) ?? []) };
    }),
  );
  return [
    {
      name,
      title: "Size, and loading",
      note: "A program of two lines that lists one page, bundled for Node by esbuild, minified, in kB; and the time of `import()` of the unbundled package in a new process, median.",
      heading: ["", "minified", "gzipped", "import ms"],
      rows: figures.map((figure) => [
        figure.contender,
        round(figure.minified / 1_000),
        round(figure.gzipped / 1_000),
        round(figure.loadMs.median),
      ]),
      figures: Object.fromEntries(figures.map(({ contender, ...rest }) => [contender, rest])),
      targets: [],
    },
  ];
}

async function sizeOf(program: string): Promise<{ minified: number; gzipped: number }> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: here },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node24",
    legalComments: "none",
    logLevel: "error",
  });
  const [bundle] = outputFiles;
  if (bundle === undefined) throw new Error("esbuild gave no bundle");
  return { minified: bundle.contents.byteLength, gzipped: gzipSync(bundle.contents).byteLength };
}

function loadMs(specifier: string): number {
  const program = `const at = performance.now(); await import(${JSON.stringify(specifier)}); console.log(performance.now() - at);`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: here,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${specifier} does not load\n${stderr}`);
  return Number(stdout);
}
