import { globSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SHARED_FILES } from "../../../build/shared-files.ts";
import { BINS, ENTRY_POINTS, REPLACED_IN_BROWSERS } from "../../../config/entry-points.ts";
import { VERSION } from "../../../src/client/version.ts";
import { type Packed, pack, readJson } from "../../support/packed.ts";

const repository = resolve(import.meta.dirname, "../../..");
let packed: Packed;
beforeAll(() => {
  packed = pack();
});
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(packed.root, file), "utf8");

/** A published file, and all that it imports of the others. */
function closureOf(file: string, found: Set<string> = new Set()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, next = ""] of read(`dist/${file}`).matchAll(/^(?:import|\} from) "\.\/([\w.-]+)";$/gm))
    closureOf(next, found);
  return found;
}

const declarations = ["classes", "client", "emulator", "journal", "options", "rate-limiter", "scopes"];
const shared = [
  ...Object.values(SHARED_FILES).flatMap((names) => Object.keys(names).map((name) => `dist/${name}.js`)),
  ...declarations.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.d.cts`]),
];

describe("the tarball", () => {
  test("holds the entry points, what they share, their maps and sources, the bins, the documents and the notices, and nothing else", () => {
    const entries = ENTRY_POINTS.flatMap(({ file }) =>
      ["js", "cjs", "d.ts", "d.cts"].map((extension) => `dist/${file}.${extension}`),
    );
    // Who reads the package needs no plan of the sources, and no figures of another machine.
    const guides = globSync("{*.md,{api,reference}/**/*.md}", { cwd: join(repository, "docs") }).filter(
      (file) => file !== "performance.md",
    );
    const drawn = ["bulk-terminal", "herd", "pause", "rotation"].map((name) => `${name}.svg`);
    const pictures = [...drawn, "page-dark.webp", "page-light.webp"].map((file) => `docs/assets/${file}`);
    const rest = [
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "SECURITY.md",
      "THIRD-PARTY-NOTICES.txt",
      "api.md",
      "dist/sbom.cdx.json",
      "llms.txt",
      "package.json",
      "skills/project-automation/SKILL.md",
      ...[...BINS, ...REPLACED_IN_BROWSERS].map(({ file }) => `dist/${file}.js`),
      ...pictures,
      ...guides.map((file) => `docs/${file.replaceAll("\\", "/")}`),
    ];
    expect(guides).toEqual(expect.arrayContaining(["README.md", "errors.md"]));
    const sources = globSync("src/**/*.{ts,html,css}", { cwd: repository }).map((file) => file.replaceAll("\\", "/"));
    const maps = [...entries, ...shared].filter((file) => /\.d\.c?ts$/.test(file)).map((file) => `${file}.map`);
    const others = packed.files.filter((file) => !file.startsWith("examples/"));
    expect(others).toEqual([...entries, ...shared, ...maps, ...sources, ...rest].sort());
  });

  test("brings no dependency along", () => {
    const manifest = readJson(join(packed.root, "package.json")) as Record<string, unknown>;
    for (const field of ["dependencies", "optionalDependencies", "bundleDependencies", "bundledDependencies"]) {
      expect(manifest).not.toHaveProperty(field);
    }
    expect(manifest["peerDependenciesMeta"]).toEqual({
      "@modelcontextprotocol/server": { optional: true },
      "@opentelemetry/api": { optional: true },
      msw: { optional: true },
      zod: { optional: true },
    });
    expect(manifest).toMatchObject({ version: VERSION, type: "module", sideEffects: false, engines: { node: ">=22" } });
  });

  test("runs nothing when it is installed", () => {
    const { scripts } = readJson(join(packed.root, "package.json")) as { scripts: object };
    for (const name of ["preinstall", "install", "postinstall"]) expect(scripts).not.toHaveProperty(name);
    expect(packed.files).not.toContain("binding.gyp");
  });

  test("says where everything is, to those who read exports and to those who do not", () => {
    const manifest = readJson(join(packed.root, "package.json")) as Record<string, unknown>;
    const entries = ENTRY_POINTS.map(({ name, file: path }) => {
      const file = `./dist/${path}`;
      const entry = {
        import: { types: `${file}.d.ts`, default: `${file}.js` },
        require: { types: `${file}.d.cts`, default: `${file}.cjs` },
      };
      // The first condition that holds is taken, so `types` has to come first.
      expect(JSON.stringify((manifest["exports"] as Record<string, unknown>)[name])).toBe(JSON.stringify(entry));
      return [name.slice(2), [entry.require.types]] as const;
    });
    expect(manifest).toMatchObject({ main: "./dist/index.cjs", types: "./dist/index.d.cts" });
    expect(manifest["typesVersions"]).toEqual({ "*": Object.fromEntries(entries.filter(([name]) => name !== "")) });
  });

  test("loads the client from three files, since each takes its time at import", () => {
    expect(closureOf("index.js").size).toBe(3);
  });

  test("names no folder of the machine it was made on", () => {
    const places = [repository, homedir(), tmpdir()].filter((place) => place.length > 1);
    for (const file of packed.files) {
      for (const place of places) expect(read(file).includes(`${place}/`), `${file} names ${place}`).toBe(false);
    }
  });

  test("leaves OpenTelemetry where it is, and speaks of it in one entry point alone", () => {
    const mentioned = packed.files.filter(
      (file) => /\.c?js$/.test(file) && /(?:from |require\()"@opentelemetry\//.test(read(file)),
    );
    expect(mentioned).toEqual(["dist/opentelemetry/index.cjs", "dist/opentelemetry/index.js"]);
    for (const file of packed.files.filter((file) => /\.c?js$/.test(file))) {
      expect(read(file), file).not.toContain("ProxyTracerProvider");
    }
  });

  test("imports zod in the entry point for schemas only", () => {
    const asking = packed.files.filter((file) => /(?:from |require\(|import\()["']zod/.test(read(file)));
    const code = asking.filter((file) => file.startsWith("dist/"));
    expect(code).toEqual(
      ["cjs", "d.cts", "d.ts", "js"].map((extension) => `dist/schemas/needs-zod-3.25.50-or-later.${extension}`),
    );
  });

  test("declares types that speak of no package but the one that an entry point is for", () => {
    const own = (file: string): RegExp => {
      if (file.includes("testing/msw")) return /^(?:\.|msw$)/;
      if (file.includes("schemas/")) return /^zod\/v4-mini$/;
      if (file.includes("mcp/")) return /^(?:\.|@modelcontextprotocol\/server$)/;
      return file.includes("opentelemetry/") ? /^(?:\.|@opentelemetry\/api$)/ : /^\./;
    };
    for (const file of packed.files.filter((file) => /\.d\.c?ts$/.test(file))) {
      const imports = [...read(file).matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)].map(
        ([, specifier]) => specifier,
      );
      for (const specifier of imports) expect(specifier, file).toMatch(own(file));
    }
  });
});
