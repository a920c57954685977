/** The size of a program of two lines that lists one page: bundled for Node by esbuild, minified, gzipped. */

import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { KY, OURS } from "./clients.ts";
import { moduleOf } from "./support/manifest.ts";
import { clientOf, entrants, type Figures, type Measure } from "./support/results.ts";

/** By client: what is imported from where, and what is done with it. */
const PROGRAMS = {
  [OURS]: ["{ Client }", OURS, "new Client().projects.list().toArray({ max: 50 })"],
  [KY]: ["ky", "ky", 'ky.get("https://service.example/projects").json()'],
  notion: ["{ Client }", "@notionhq/client", "new Client().users.list({})"],
  octokit: ["{ Octokit }", "@octokit/rest", 'new Octokit().paginate("GET /events")'],
  stripe: ["{ Stripe }", "stripe", 'new Stripe("key").customers.list()'],
  openai: ["{ OpenAI }", "openai", "new OpenAI().files.list()"],
  "@slack/web-api": ["{ WebClient }", "@slack/web-api", "new WebClient().conversations.list()"],
} satisfies Readonly<Record<string, readonly [names: string, from: string, use: string]>>;

const HTTP = ["ky", "p-retry"];

export const size: Measure = {
  title: "A program of two lines that lists one page, in kB",
  guards: [{ figure: "gzipped", atMost: 49.5 }],
  async run(bench) {
    const figures: Record<string, Figures[string]> = {};
    for (const name of entrants(Object.keys(PROGRAMS), bench)) {
      const { folder } = clientOf(name, bench.packages);
      const program = PROGRAMS[name.split(" @ ")[0] as keyof typeof PROGRAMS]; // an entrant is made of a name
      const isOurs = program[1] === OURS;
      const { minified, gzipped } = await sizeOf(program, isOurs ? moduleOf(folder, ".") : program[1]);
      figures[name] = { minified, gzipped, ...(isOurs && (await sharesOf(program, folder, gzipped))) };
    }
    return figures;
  },
};

/** A share is what the program shrinks by without it, built from the sources, where packages are files of their own. */
async function sharesOf(program: readonly string[], folder: string, gzipped: number): Promise<Record<string, number>> {
  const { ENTRY_POINTS } = await import(pathToFileURL(join(folder, "config/entry-points.ts")).href);
  const source = join(folder, ENTRY_POINTS.find(({ name }: { name: string }) => name === ".").source);
  const whole = await sizeOf(program, source);
  const withoutHttp = await sizeOf(program, source, HTTP);
  const own = await sizeOf(program, source, [...HTTP, "zod"]);
  const http = kb(whole.gzipped - withoutHttp.gzipped);
  return { "ky and p-retry": http, zod: kb(gzipped - own.gzipped - http), "own code": own.gzipped };
}

async function sizeOf([names = "", , use = ""]: readonly string[], from: string, without: readonly string[] = []) {
  const { outputFiles } = await build({
    stdin: {
      contents: `import ${names} from ${JSON.stringify(from)};\nconsole.log(await ${use});`,
      resolveDir: fileURLToPath(new URL(".", import.meta.url)),
    },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node24",
    legalComments: "none",
    logLevel: "error",
    external: without.flatMap((name) => [name, `${name}/*`]),
  });
  const [{ contents } = { contents: new Uint8Array() }] = outputFiles;
  return {
    minified: kb(contents.byteLength / 1_000),
    gzipped: kb(gzipSync(contents, { level: 9 }).byteLength / 1_000),
  };
}

function kb(value: number): number {
  return Number(value.toFixed(2));
}
