import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../../..");
const guide = readFileSync(resolve(ROOT, "docs/networks.md"), "utf8");

test("every flag and variable that the guide names is tried by a test", () => {
  const tests = globSync("test/**/*.test.ts", { cwd: ROOT })
    .filter((name) => !name.includes("guide"))
    .map((name) => readFileSync(resolve(ROOT, name), "utf8"))
    .join("\n");
  const flags = guide.match(/--[a-z][a-z-]+/g) ?? [];
  const variables = guide.match(/\b(?:NODE|DENO|SSL|HTTPS?|NO)_[A-Z_]+\b/g) ?? [];
  const named = [...new Set([...flags, ...variables])];
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !tests.includes(name))).toEqual([]);
});
