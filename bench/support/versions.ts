import { readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);
const installed = new URL("../node_modules/", import.meta.url);

/** The versions of packages that take part, by their names. */
export function versionsOf(names: readonly string[]): Record<string, string> {
  return Object.fromEntries([...new Set(names)].sort().map((name) => [name, versionOf(name)]));
}

function versionOf(name: string): string {
  const folder = name === "project-automation" ? root : new URL(`${name}/`, installed);
  const { version } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as { version: string };
  return version;
}
