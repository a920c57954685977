/** `npm run typecheck` judges the sources, also where a program imports the package by its name. */
import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { ENTRY_POINTS } from "../../config/entry-points.ts";

const root = resolve(import.meta.dirname, "../..");
const { scripts } = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as {
  scripts: { typecheck: string };
};
const projects = scripts.typecheck.split(" && ").map((command) => /^tsc(?: -p (\S+))?$/.exec(command)?.[1] ?? ".");

describe.each(projects)("the project %s", (project) => {
  const path = resolve(root, project);
  const file = path.endsWith(".json") ? path : resolve(path, "tsconfig.json");
  const { config } = ts.readConfigFile(file, (name) => ts.sys.readFile(name));
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(file));

  test("takes the name of each entry point for its source", () => {
    expect(errors).toEqual([]);
    const [importer = file] = fileNames;
    const resolved = ENTRY_POINTS.map(({ name }) => {
      const specifier = `project-automation${name.slice(1)}`;
      const { resolvedModule } = ts.resolveModuleName(specifier, importer, options, ts.sys);
      return [specifier, relative(root, resolvedModule?.resolvedFileName ?? "").replaceAll("\\", "/")];
    });
    expect(resolved).toEqual(ENTRY_POINTS.map(({ name, source }) => [`project-automation${name.slice(1)}`, source]));
  });
});
