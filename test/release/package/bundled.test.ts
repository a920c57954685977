/** What of other packages is in the published files: as they published it, and said in the notices and the bill of materials. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build, type Metafile } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  BINS,
  BUNDLED_IN_BIN,
  ENTRY_POINTS,
  type EntryPoint,
  PEERS,
  WITH_CLASSIC_ZOD,
  WITH_OWN_ZOD,
} from "../../../config/entry-points.ts";
import { type Packed, pack, readJson } from "../../support/packed.ts";

const repository = resolve(import.meta.dirname, "../../..");
const BUNDLED = [...BUNDLED_IN_BIN, "is-network-error", "ky", "p-retry", "tinyexec", "zod"].sort();

let packed: Packed;
const built = { esm: new Map<string, Set<string>>(), cjs: new Map<string, Set<string>>() };
let names: string[];
beforeAll(async () => {
  packed = pack();
  const entries = (wanted: (name: string) => boolean): EntryPoint[] => ENTRY_POINTS.filter(({ name }) => wanted(name));
  const others = entries((name) => name !== WITH_OWN_ZOD && name !== WITH_CLASSIC_ZOD);
  const withClassicZod = entries((name) => name === WITH_CLASSIC_ZOD);
  const peers = PEERS.filter((name) => name !== "zod");
  const builds = await Promise.all([
    ...(["esm", "cjs"] as const).flatMap((format) =>
      [others, withClassicZod].map((part) => buildPlainly(part, { format, platform: "neutral", external: peers })),
    ),
    buildPlainly(BINS, {
      format: "esm",
      platform: "node",
      external: peers.filter((name) => !BUNDLED_IN_BIN.includes(name)),
    }),
  ]);
  for (const format of ["esm", "cjs"] as const) {
    built[format] = modulesIn(builds.filter((one) => one.format === format).flatMap(({ texts }) => texts));
  }
  names = [...new Set(builds.flatMap(({ metafile }) => packagesIn(metafile)))].sort();
});
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

interface Target {
  readonly format: "esm" | "cjs";
  readonly platform: "neutral" | "node";
  readonly external: readonly string[];
}

/** The build of esbuild alone: no plugin, and nothing that handles a package apart from the rest. */
async function buildPlainly(
  entries: readonly EntryPoint[],
  { format, platform, external }: Target,
): Promise<{ format: Target["format"]; metafile: Metafile; texts: string[] }> {
  const { metafile, outputFiles } = await build({
    entryPoints: entries.map(({ source }) => source),
    absWorkingDir: repository,
    bundle: true,
    format,
    splitting: format === "esm",
    platform,
    ...(platform === "neutral" ? { mainFields: ["browser", "module", "main"] } : {}),
    target: "es2022",
    external: [...external, ...(platform === "neutral" ? ["node:*"] : [])],
    outdir: "never-written",
    write: false,
    metafile: true,
    logLevel: "error",
  });
  return { format, metafile, texts: outputFiles.map(({ text }) => text) };
}

/** The modules of other packages in bundled files: each begins with a comment that names its file. */
function modulesIn(texts: readonly string[]): Map<string, Set<string>> {
  const modules = new Map<string, Set<string>>();
  for (const text of texts) {
    const [, ...parts] = text.split(/^\s*\/\/ ((?:src|node_modules)\/\S+)$/m);
    for (let index = 0; index < parts.length; index += 2) {
      const [file = "", code = ""] = parts.slice(index, index + 2);
      if (file.startsWith("src/")) continue;
      // What follows the last module of a file are its exports.
      const own = code.split(/^(?:export \{|\/\/ Annotate the CommonJS export names)/m)[0] ?? "";
      modules.set(file, (modules.get(file) ?? new Set()).add(own.trim()));
    }
  }
  return modules;
}

function packagesIn({ outputs }: Metafile): string[] {
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
      return name !== undefined && bytesInOutput > 0 ? [name] : [];
    }),
  );
}

const read = (file: string): string => readFileSync(join(packed.root, file), "utf8");
const manifestOf = (name: string): { version: string; license: string } =>
  readJson(join(repository, "node_modules", name, "package.json")) as { version: string; license: string }; // npm put it there

test("the packages whose code is in the files are these", () => {
  expect(names).toEqual(BUNDLED);
});

describe.each(["esm", "cjs"] as const)("in %s", (format) => {
  const filesOf = (): string[] => packed.files.filter((file) => file.endsWith(format === "esm" ? ".js" : ".cjs"));

  test("every module of another package is what esbuild makes of the published file", () => {
    const published = modulesIn(filesOf().map(read));
    expect([...published.keys()].sort()).toEqual([...built[format].keys()].sort());
    for (const [file, codes] of published) {
      for (const code of codes) {
        expect([...(built[format].get(file) ?? [])].map(withoutNumbers), file).toContain(withoutNumbers(code));
      }
    }
  });

  test("no code of another package is outside its modules", () => {
    for (const file of filesOf()) {
      const text = read(file);
      if (!/^\/\/ node_modules\//m.test(text))
        expect(text, file).not.toMatch(/throwHttpErrors|\$ZodType|retriesConsumed/);
    }
  });
});

/** esbuild numbers names that occur in several modules of one file; which number one gets depends on our own. */
function withoutNumbers(code: string): string {
  return code.replaceAll(/\b([A-Za-z_$][\w$]*?)\d+\b/g, "$1").replaceAll(/\b(\w+) as \1\b/g, "$1");
}

test("the notices hold the licence of each, in full, and of no other", () => {
  const notices = read("THIRD-PARTY-NOTICES.txt");
  for (const name of names) {
    const { version, license } = manifestOf(name);
    const folder = join(repository, "node_modules", name);
    const [licence = "none"] = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file));
    const text = readFileSync(join(folder, licence), "utf8").trim();
    expect(notices).toContain(`${name} ${version} (${license})\n\n${text}\n`);
  }
  expect(notices.split("-".repeat(80))).toHaveLength(names.length + 1);
});

describe("the bill of materials", () => {
  interface Component {
    readonly name: string;
    readonly version: string;
    readonly purl: string;
    readonly licenses: readonly { readonly license: { readonly id: string } }[];
    readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  }
  const bill = (): Record<string, unknown> & { components: Component[] } =>
    readJson(join(packed.root, "dist/sbom.cdx.json")) as Record<string, unknown> & { components: Component[] };

  test("lists what is bundled, each with its version, licence and hash", () => {
    const { packages } = readJson(join(repository, "package-lock.json")) as {
      packages: Record<string, { integrity: string }>;
    };
    const expected = names.map((name) => {
      const { version, license } = manifestOf(name);
      const digest = packages[`node_modules/${name}`]?.integrity.replace("sha512-", "") ?? "";
      return {
        name,
        version,
        purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
        licenses: [{ license: { id: license } }],
        hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }],
      };
    });
    expect(bill().components).toMatchObject(expected);
    for (const { hashes } of bill().components) {
      expect(hashes[0]?.content).toHaveLength(createHash("sha512").digest("hex").length);
    }
  });
});
