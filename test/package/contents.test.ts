import { readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../src/version.ts";
import { DOOR_FILES, DOORS, type Packed, pack, readJson } from "../support/packed.ts";

let packed: Packed;
beforeAll(() => {
  packed = pack();
}, 60_000);
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(packed.root, file), "utf8");

const sharedFile = /^dist\/(?:chunk-[A-Z0-9]+\.js(?:\.map)?|[\w-]+-[\w-]{8}\.d\.c?ts)$/;

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
    expect(packed.files.filter((file) => !sharedFile.test(file))).toEqual([...doors, ...rest].sort());
  });

  test("brings no dependency along", () => {
    const manifest = readJson(join(packed.root, "package.json")) as Record<string, unknown>;
    for (const field of ["dependencies", "optionalDependencies", "bundleDependencies", "bundledDependencies"]) {
      expect(manifest).not.toHaveProperty(field);
    }
    expect(manifest["peerDependenciesMeta"]).toEqual({
      "@opentelemetry/api": { optional: true },
      msw: { optional: true },
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
    const entries = DOORS.map((door, index) => {
      const file = `./dist/${DOOR_FILES[index]}`;
      const entry = {
        import: { types: `${file}.d.ts`, default: `${file}.js` },
        require: { types: `${file}.d.cts`, default: `${file}.cjs` },
      };
      // The first condition that holds is taken, so `types` has to come first.
      expect(JSON.stringify((manifest["exports"] as Record<string, unknown>)[door])).toBe(JSON.stringify(entry));
      return [door.slice(2), [entry.require.types]] as const;
    });
    expect(manifest).toMatchObject({ main: "./dist/index.cjs", types: "./dist/index.d.cts" });
    expect(manifest["typesVersions"]).toEqual({ "*": Object.fromEntries(entries.filter(([door]) => door !== "")) });
  });

  test("holds no shared file that nothing imports", () => {
    const code = packed.files.filter((file) => /(?:\.js|\.d\.c?ts)$/.test(file)).map(read);
    const shared = packed.files.filter((file) => sharedFile.test(file) && !file.endsWith(".map"));
    expect(shared).not.toHaveLength(0);
    for (const file of shared) {
      const name = basename(file).replace(/\.d\.(c?)ts$/, ".$1js");
      expect(
        code.some((text) => text.includes(`/${name}`)),
        file,
      ).toBe(true);
    }
  });

  test("names no folder of the machine it was made on", () => {
    const places = [resolve(import.meta.dirname, "../.."), homedir(), tmpdir()].filter((place) => place.length > 1);
    for (const file of packed.files) {
      for (const place of places) expect(read(file).includes(`${place}/`), `${file} names ${place}`).toBe(false);
    }
  });

  test("leaves OpenTelemetry where it is, and speaks of it behind one door alone", () => {
    const mentioned = packed.files.filter(
      (file) => /\.c?js$/.test(file) && /(?:from |require\()"@opentelemetry\//.test(read(file)),
    );
    expect(mentioned).toEqual(["dist/opentelemetry/index.cjs", "dist/opentelemetry/index.js"]);
    for (const file of packed.files.filter((file) => /\.c?js$/.test(file))) {
      expect(read(file), file).not.toContain("ProxyTracerProvider");
    }
  });

  test("declares types that speak of no package but the one that a door is for", () => {
    const own = (file: string): RegExp => {
      if (file.includes("testing/msw")) return /^(?:\.|msw$)/;
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
