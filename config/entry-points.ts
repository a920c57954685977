import { readFileSync } from "node:fs";

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly browser: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly import: { readonly default: string } }>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as Manifest; // our own

/** A file that the package publishes for its users, and the source that it is built from. */
export interface EntryPoint {
  /** The key in `exports`, such as `./testing`, or the name of a bin. */
  readonly name: string;
  /** The published file below `dist`, without its extension. */
  readonly file: string;
  /** The source, from the root of the repository. */
  readonly source: string;
}

/** Where the sources of some published files and folders stand; those of the others stand in `src/` itself. */
const ROOMS: Readonly<Record<string, string>> = { index: "client/", schemas: "service/", call: "core/" };

function entryPoint(name: string, published: string): EntryPoint {
  const file = /^(?:\.\/)?dist\/(.+)\.js$/.exec(published)?.[1];
  if (file === undefined) throw new Error(`package.json: ${name} is ${published}, which is not below dist/`);
  // A file that cannot be loaded beside an older package is named after what it needs: see docs/maintainers/decisions.md.
  const below = file.replace(/needs-[^/]+$/, "index");
  const [first = ""] = below.split("/");
  return { name, file, source: `src/${ROOMS[first] ?? ""}${below}.ts` };
}

/** What `exports` in package.json names, `./package.json` aside. All builds, checks and tests derive from it. */
export const ENTRY_POINTS: readonly EntryPoint[] = Object.entries(manifest.exports).flatMap(([name, target]) =>
  typeof target === "string" ? [] : [entryPoint(name, target.import.default)],
);

/** What `bin` in package.json names. */
export const BINS: readonly EntryPoint[] = Object.entries(manifest.bin).map(([name, file]) => entryPoint(name, file));

/** What `browser` in package.json names: files that bundlers replace in programs for browsers, and what they put there. */
export const REPLACED_IN_BROWSERS: readonly EntryPoint[] = Object.entries(manifest.browser)
  .flat()
  .map((file) => entryPoint(file, file));

/** The packages that an application brings along, and that are never bundled. */
export const PEERS: readonly string[] = Object.keys(manifest.peerDependencies);

/** The packages that are bundled, as they are published. */
export const BUNDLED: readonly string[] = ["ky", "p-retry", "tinyexec", "zod"];

/** What the bin needs besides, since nothing is installed along with it. The entry point `./mcp` uses the application's. */
export const BUNDLED_IN_BIN: readonly string[] = ["@modelcontextprotocol/server", "@modelcontextprotocol/core"];

/**
 * An entry point with a build of its own: its zod is not the `zod/mini` of the others, and a file shared with them would
 * make every program larger.
 */
export const WITH_CLASSIC_ZOD = "./mcp";

/** The entry point that uses the application's zod in place of the bundled one. */
export const WITH_OWN_ZOD = "./schemas";
