/** What of the package ends up in the bundle of a program that uses a part of it. */
import { rmSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENTRY_POINTS, PEERS } from "../../../config/entry-points.ts";
import { type Packed, pack } from "../../support/packed.ts";

let packed: Packed;
beforeAll(() => {
  packed = pack();
});
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
  emulator: "the emulator has no host",
  rotatingToken: "renewBeforeMs",
  scopes: "enclaves:admin",
};

const partsIn = (code: string): string[] =>
  Object.entries(MARKERS).flatMap(([part, marker]) => (code.includes(marker) ? [part] : []));

const specifier = (entry: string): string => `project-automation${entry.slice(1)}`;

test.each(ENTRY_POINTS)("$name leaves nothing behind where nothing of it is used", async ({ name }) => {
  expect(await bundle(`import {} from "${specifier(name)}";`)).toBe("");
  expect(await bundle(`import "${specifier(name)}";`)).toBe("");
  expect(await bundle(`import * as all from "${specifier(name)}";`)).toBe("");
});

/** What a program without a client imports, the parts that may come along, and its bytes, minified and gzipped; peers aside. */
const WITHOUT_CLIENT = [
  { name: "VERSION", entry: ".", parts: [], bytes: 970 },
  { name: "SCOPES", entry: ".", parts: ["scopes"], bytes: 1_030 },
  { name: "missingScopes", entry: ".", parts: [], bytes: 1_140 },
  { name: "path", entry: ".", parts: [], bytes: 2_300 },
  { name: "isAutomationError", entry: ".", parts: [], bytes: 970 },
  { name: "ConfigError", entry: ".", parts: [], bytes: 980 },
  { name: "NotFoundError", entry: ".", parts: [], bytes: 1_030 },
  { name: "ProjectSchema", entry: "./schemas", parts: [], bytes: 400 },
  { name: "createEmulator", entry: "./testing", parts: ["emulator", "scopes"], bytes: 17_100 },
];

/** The parts that a name may bring into a program with a client, and the bytes that it adds there. */
const WITH_CLIENT = [
  { name: "path", entry: ".", parts: [], bytes: 190 },
  { name: "SCOPES", entry: ".", parts: [], bytes: 40 },
  { name: "memoryRateLimiter", entry: ".", parts: [], bytes: 40 },
  { name: "rotatingToken", entry: ".", parts: ["rotatingToken"], bytes: 1_930 },
  { name: "instrument", entry: "./opentelemetry", parts: [], bytes: 2_450 },
  { name: "redisRateLimiter", entry: "./redis", parts: [], bytes: 7_000 },
  { name: "bulkWrite", entry: "./bulk", parts: [], bytes: 9_860 },
  // It is built apart, with copies of its own of what it shares.
  { name: "createEmulator", entry: "./testing", parts: ["emulator"], bytes: 16_450 },
];

const sizeOf = (code: string): number => gzipSync(code, { level: 9 }).length;

describe("a program that uses only", () => {
  test.each(WITHOUT_CLIENT)("$name", async ({ name, entry, parts, bytes }) => {
    const code = await bundle(`import { ${name} } from "${specifier(entry)}"; console.log(${name});`);
    expect(partsIn(code)).toEqual(parts);
    expect(sizeOf(code), `${name}: ${sizeOf(code)} bytes`).toBeLessThanOrEqual(bytes);
  });
});

describe("a program that walks the projects", () => {
  const walk = `
    import { Client } from "project-automation";
    for await (const project of new Client().projects.list()) console.log(project.name);`;
  // An address that ends in the name of a resource is told: the names are those of the scopes.
  const CLIENT = ["ky", "p-retry", "zod", "scopes"];

  test("has no part that it does not use", async () => {
    expect(partsIn(await bundle(walk))).toEqual(CLIENT);
  });

  test.each(WITH_CLIENT)("uses $name, too", async ({ name, entry, parts, bytes }) => {
    const code = await bundle(`import { ${name} } from "${specifier(entry)}"; console.log(${name}); ${walk}`);
    expect(new Set(partsIn(code))).toEqual(new Set([...CLIENT, ...parts]));
    const added = sizeOf(code) - sizeOf(await bundle(walk));
    expect(added, `${name}: ${added} bytes`).toBeLessThanOrEqual(bytes);
  });
});
