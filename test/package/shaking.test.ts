/** What of the package ends up in the bundle of a program that uses a part of it. */
import { rmSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DOORS, type Packed, PEERS, pack } from "../support/packed.ts";

let packed: Packed;
beforeAll(() => {
  packed = pack();
}, 60_000);
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

async function bundle(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: packed.folder },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    external: [...PEERS],
    target: "es2022",
    write: false,
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "nothing was bundled";
}

/** Strings that outlive minification, and stand in no other part. */
const MARKERS = {
  ky: "throwHttpErrors",
  "p-retry": "retriesLeft",
  zod: "$ZodType",
  emulator: "emulator.invalid",
  rotatingToken: "renewBeforeMs",
  scopes: "enclaves:admin",
};

const partsIn = (code: string): string[] =>
  Object.entries(MARKERS).flatMap(([part, marker]) => (code.includes(marker) ? [part] : []));

const specifier = (door: string): string => `project-automation${door.slice(1)}`;

test.each(DOORS)("%s leaves nothing behind where nothing of it is used", async (door) => {
  expect(await bundle(`import {} from "${specifier(door)}";`)).toBe("");
  expect(await bundle(`import "${specifier(door)}";`)).toBe("");
  expect(await bundle(`import * as door from "${specifier(door)}";`)).toBe("");
});

test("the markers are found where the parts are", async () => {
  const everything = DOORS.map((door) => `export * from "${specifier(door)}";`).join("\n");
  expect(partsIn(await bundle(everything))).toEqual(Object.keys(MARKERS));
});

/** What a program imports, the parts that may come along, and the bytes it may cost, minified and gzipped. */
const BUNDLES = [
  { name: "VERSION", door: ".", parts: [], bytes: 80 },
  { name: "SCOPES", door: ".", parts: ["scopes"], bytes: 200 },
  { name: "missingScopes", door: ".", parts: ["scopes"], bytes: 450 },
  { name: "path", door: ".", parts: [], bytes: 2_400 },
  { name: "isAutomationError", door: ".", parts: [], bytes: 1_300 },
  { name: "ConfigError", door: ".", parts: [], bytes: 1_300 },
  { name: "NotFoundError", door: ".", parts: [], bytes: 1_300 },
  { name: "memoryRateLimiter", door: ".", parts: [], bytes: 2_500 },
  { name: "rotatingToken", door: ".", parts: ["rotatingToken"], bytes: 3_600 },
  { name: "ProjectSchema", door: "./schemas", parts: ["zod"], bytes: 9_500 },
  { name: "instrument", door: "./opentelemetry", parts: [], bytes: 4_100 },
  { name: "createEmulator", door: "./testing", parts: ["emulator", "scopes"], bytes: 13_000 },
];

describe("a program that uses only", () => {
  test.each(BUNDLES)("$name", async ({ name, door, parts, bytes }) => {
    const code = await bundle(`import { ${name} } from "${specifier(door)}"; console.log(${name});`);
    expect(partsIn(code)).toEqual(parts);
    const size = gzipSync(code, { level: 9 }).length;
    expect(size, `${name}: ${size} bytes`).toBeLessThanOrEqual(bytes);
  });

  test("the client and a walk", async () => {
    const code = await bundle(`
      import { Client } from "project-automation";
      for await (const project of new Client().projects.list()) console.log(project.name);`);
    expect(partsIn(code)).toEqual(["ky", "p-retry", "zod"]);
  });
});
