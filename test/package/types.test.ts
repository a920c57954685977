import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { link, type Packed, pack } from "../support/packed.ts";

let packed: Packed;
beforeAll(() => {
  packed = pack();
  link(packed.folder, "msw", "@types");
  for (const extension of ["mts", "cts"]) writeFileSync(join(packed.folder, `consumer.${extension}`), consumer);
}, 60_000);
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

/** Uses every door that does not need msw, whose own types ask for a recent compiler. */
const consumer = `
import { Client, isAutomationError, path, type Project, type Scope } from "project-automation";
import { ProjectSchema, pageOf } from "project-automation/schemas";
import { createEmulator } from "project-automation/testing";
import { startEmulator } from "project-automation/testing/node";

export async function main(): Promise<number> {
  const emulator = createEmulator({ projects: 2 });
  const client = new Client({ baseUrl: emulator.baseUrl, token: emulator.token, fetch: emulator.fetch });
  const scopes: Scope[] = ["projects:read"];
  const names: string[] = [];
  try {
    await client.tokens.create({ name: "ci", scopes });
    for await (const project of client.projects.list({ limit: 10 })) names.push(project.name);
    const page = await client.request({ method: "GET", path: path\`/projects\`, schema: pageOf(ProjectSchema) });
    const first: Project | undefined = page.data[0];
    names.push(first?.id ?? "");
  } catch (error) {
    if (isAutomationError(error) && error.kind === "rate_limit") return error.retryAfterMs ?? 0;
    throw error;
  }
  const server = await startEmulator();
  await server.close();
  return names.length;
}
`;

const mswConsumer = `
import { setupServer } from "msw/node";
import { createEmulator } from "project-automation/testing";
import { emulatorHandlers } from "project-automation/testing/msw";
export const server = setupServer(...emulatorHandlers(createEmulator()));
`;

function compile(compiler: string, file: string, options: Record<string, unknown>): string {
  const config = join(packed.folder, "tsconfig.json");
  const compilerOptions = {
    target: "es2022",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    ...options,
  };
  writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
  const tsc = resolve(import.meta.dirname, "../../node_modules", compiler, "bin/tsc");
  return spawnSync(process.execPath, [tsc, "-p", config], { encoding: "utf8" }).stdout;
}

const browser = { lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"], types: [] };
const node = { lib: ["es2022"], types: ["node"] };
const both = { ...browser, types: ["node"] };
const nodenext = { module: "nodenext", moduleResolution: "nodenext" };
const bundler = { module: "esnext", moduleResolution: "bundler" };

test.each([
  { by: "TypeScript 6, nodenext, the DOM library", file: "consumer.mts", ...nodenext, ...browser },
  { by: "TypeScript 6, nodenext, @types/node", file: "consumer.mts", ...nodenext, ...node },
  { by: "TypeScript 6, nodenext, CommonJS, both", file: "consumer.cts", ...nodenext, ...both },
  { by: "TypeScript 6, bundler, the DOM library", file: "consumer.mts", ...bundler, ...browser },
  { by: "TypeScript 5.4, nodenext, the DOM library", file: "consumer.mts", ...nodenext, ...browser },
  { by: "TypeScript 5.4, nodenext, CommonJS, @types/node", file: "consumer.cts", ...nodenext, ...node },
  { by: "TypeScript 5.4, bundler, both", file: "consumer.mts", ...bundler, ...both },
])("the declarations compile without skipLibCheck: $by", { timeout: 60_000 }, ({ by, file, ...options }) => {
  expect(compile(by.startsWith("TypeScript 5.4") ? "typescript-5.4" : "typescript", file, options)).toBe("");
});

test("the msw door compiles beside msw", { timeout: 60_000 }, () => {
  writeFileSync(join(packed.folder, "msw.mts"), mswConsumer);
  expect(compile("typescript", "msw.mts", { ...nodenext, ...both, skipLibCheck: true })).toBe("");
});
