import { readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../src/version.ts";
import { DOOR_FILES, DOORS, type Packed, pack, readJson } from "../support/packed.ts";

let packed: Packed;
beforeAll(() => {
  packed = pack();
}, 60_000);
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(packed.root, file), "utf8");

describe("the tarball", () => {
  test("holds the doors, what they share, the bin and the notices, and nothing else", () => {
    const doors = DOOR_FILES.flatMap((door) =>
      ["js", "js.map", "cjs", "cjs.map", "d.ts", "d.cts"].map((extension) => `dist/${door}.${extension}`),
    );
    const rest = [
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "THIRD-PARTY-NOTICES.txt",
      "dist/bin.js",
      "dist/bin.js.map",
      "package.json",
    ];
    const shared = /^dist\/(?:chunk-[A-Z0-9]+\.js(?:\.map)?|[\w-]+-[\w-]{8}\.d\.c?ts)$/;
    expect(packed.files.filter((file) => !shared.test(file))).toEqual([...doors, ...rest].sort());
  });

  test("brings no dependency along", () => {
    const manifest = readJson(join(packed.root, "package.json")) as Record<string, unknown>;
    for (const field of ["dependencies", "optionalDependencies", "bundleDependencies", "bundledDependencies"]) {
      expect(manifest).not.toHaveProperty(field);
    }
    expect(manifest["peerDependenciesMeta"]).toEqual({ msw: { optional: true } });
    expect(manifest).toMatchObject({ version: VERSION, type: "module", sideEffects: false, engines: { node: ">=22" } });
    expect(Object.keys(manifest["exports"] as object)).toEqual([...DOORS, "./package.json"]);
  });

  test("carries the licence of every package whose code is in it", () => {
    const notices = read("THIRD-PARTY-NOTICES.txt");
    const bundled = new Set<string>();
    for (const file of packed.files.filter((file) => file.endsWith(".map"))) {
      const { sources } = readJson(join(packed.root, file)) as { sources: string[] };
      for (const source of sources) {
        const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1];
        if (name !== undefined) bundled.add(name);
      }
    }
    expect([...bundled].sort()).toEqual(["is-network-error", "ky", "p-retry", "zod"]);
    for (const name of bundled) expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, "m"));
  });

  test("names no folder of the machine it was made on", () => {
    const places = [resolve(import.meta.dirname, "../.."), homedir(), tmpdir()].filter((place) => place.length > 1);
    for (const file of packed.files) {
      for (const place of places) expect(read(file).includes(`${place}/`), `${file} names ${place}`).toBe(false);
    }
  });

  test("has source maps that carry their sources", () => {
    for (const file of packed.files.filter((file) => file.endsWith("js"))) {
      expect(read(file)).toContain(`//# sourceMappingURL=${file.split("/").pop()}.map`);
      const map = readJson(join(packed.root, `${file}.map`)) as {
        sources: string[];
        sourcesContent: (string | null)[];
      };
      expect(map.sourcesContent).toHaveLength(map.sources.length);
      expect(map.sourcesContent).not.toContain(null);
    }
  });

  test("declares types that speak of no bundled package", () => {
    for (const file of packed.files.filter((file) => /\.d\.c?ts$/.test(file))) {
      const imports = [...read(file).matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)].map(
        ([, specifier]) => specifier,
      );
      for (const specifier of imports)
        expect(specifier, file).toMatch(file.includes("testing/msw") ? /^(?:\.|msw$)/ : /^\./);
    }
  });
});
