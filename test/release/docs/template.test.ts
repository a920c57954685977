/** docs/template.md says how to make a client of another API: its steps are done, compiled, and the client makes a call. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serve } from "../../support/http-server.ts";
import { root } from "./snippets.ts";

const execute = promisify(execFile);
const page = readFileSync(join(root, "docs/template.md"), "utf8");
const section = (heading: string): string => page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
const codesIn = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);

const [products = "", resources = "", records = ""] = section("What to throw away, in this order")
  .split(/^\d\. /m)
  .slice(1);
const deleted = [
  ...codesIn(products),
  ...codesIn(resources)
    .filter((code) => code.endsWith(".ts"))
    .map((file) => `src/service/${file}`),
];
const unwanted = codesIn(records).filter((code) => /^[A-Z]\w+$/.test(code) && code !== "ErrorRecords");
const added = [...page.matchAll(/^```typescript\n\/\/ (\S+)\n(.*?)^```$/gms)].map(([, file = "", code = ""]) => ({
  file,
  code,
}));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "project-automation-template-"));
  cpSync(join(root, "src"), join(folder, "src"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const include = ["src", "program.ts"];
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.json"), include, exclude: [] }),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const edit = (file: string, change: (text: string) => string): void => {
  const path = join(folder, file);
  writeFileSync(path, change(existsSync(path) ? readFileSync(path, "utf8") : ""));
};

/** Takes declarations away, as a person does who deletes them with their docstrings. */
function withoutDeclarations(text: string, isUnwanted: (name: string) => boolean): string {
  const declaration = /^(?:export )?(?:interface|type|const|class|function) (\w+)/m;
  return text
    .split(/\n\n(?=\S)/)
    .filter((paragraph) => !isUnwanted(declaration.exec(paragraph)?.[1] ?? ""))
    .join("\n\n");
}

/** Takes names out of imports and exports, and whole statements that come from a file that is gone. */
function withoutNames(text: string, isUnwanted: (name: string) => boolean): string {
  const isGone = (from: string): boolean => deleted.some((file) => file.endsWith(from.replace(/^\.+/, "")));
  const statement = /^(?:import|export)(?: type)? \{[^}]*\} from "\.[^"]+";\n/gm;
  return text.replaceAll(statement, (whole) => {
    const [, before = "", listed = "", from = "", behind = ""] = /^(.*?\{)(.*)\} from "(.*)"(.*)$/s.exec(whole) ?? [];
    const names = listed.split(",").map((name) => name.trim());
    const left = names.filter((name) => name !== "" && !isUnwanted(name.replace(/^type /, "")));
    return isGone(from) || left.length === 0 ? "" : `${before} ${left.join(", ")} } from "${from}"${behind}`;
  });
}

/** `"Project"` and what is named after it: `ProjectSchema`, `projectPageValidator`, `Projects`. */
const isNamedAfter = (name: string): boolean =>
  unwanted.some((record) => new RegExp(`^${record}(?:s|Schema|(?:Page)?Validator)?$`, "i").test(name)) ||
  name === "Tokens";

test("the page names files and folders that exist", () => {
  expect(deleted.length).toBeGreaterThan(10);
  const paths = codesIn(page).filter((code) => /^(?:src|client|core|service|bulk|redis|opentelemetry)\//.test(code));
  for (const path of paths) {
    expect(existsSync(join(root, path.startsWith("src/") ? path : `src/${path}`)), path).toBe(true);
  }
});

const PROGRAM = `
import { Client } from "./src/client/index.ts";
const client = new Client({ token: "pat_key_secret", retry: { minDelayMs: 1 } });
console.log(await client.invoices.get("a/b"));
await client.invoices.get("gone").catch((error) => console.log(error.kind, error.message));
`;

test("what is left compiles with an endpoint of another API, and calls it", async () => {
  for (const file of deleted) {
    expect(existsSync(join(folder, file)), file).toBe(true);
    rmSync(join(folder, file), { recursive: true });
  }
  const records = ["service/models", "service/schemas/records", "service/schemas/validators", "service/schemas/index"];
  for (const file of [...records, "client/client", "client/index"]) {
    edit(`src/${file}.ts`, (text) => withoutNames(withoutDeclarations(text, isNamedAfter), isNamedAfter));
  }
  edit("src/service/scopes.ts", (text) => text.replace(/Object\.freeze\(\[.*?\]/s, 'Object.freeze(["invoices:read"]'));

  for (const { file, code } of added) edit(file, (text) => `${text}\n${code}`);
  const importInvoice = (text: string): string =>
    text.replace(/(?<=^import type \{ CreatedToken)(?=.* from "\.\.\/models\.ts")/m, ", Invoice");
  edit("src/service/schemas/records.ts", importInvoice);
  edit(
    "src/service/schemas/validators.ts",
    (text) => importInvoice(text).replaceAll(/^import .* from "\.\.\/\.\.\/core\/paging\/.*\n/gm, ""), // the compiler names them: no list is left
  );
  edit("src/client/client.ts", (text) =>
    text
      .replaceAll(/^ {2}\/\*\*[^\n]*\n {2}readonly (?:projects|sessions|tokens): \w+;\n/gm, "")
      .replaceAll(/^ {4}this\.(?:projects|sessions|tokens) = .*\n/gm, "")
      .replaceAll("issues: Issues", "invoices: Invoices")
      .replaceAll("this.issues = new Issues", "this.invoices = new Invoices")
      .replace(/^import /, 'import { Invoices } from "../service/invoices.ts";\nimport '),
  );
  edit("src/client/index.ts", (text) => `${text}export type { Invoices } from "../service/invoices.ts";\n`);
  edit("src/bulk/item-gate.ts", (text) =>
    text.replace(/client\.projects\.list\(.*?\)\.page\(\)/, 'client.invoices.get("first")'),
  );
  writeFileSync(join(folder, "program.ts"), PROGRAM);

  const compiler = join(root, "node_modules", "typescript-7", "bin", "tsc");
  const complaints = await execute(process.execPath, [compiler, "--singleThreaded"], { cwd: folder }).then(
    () => "",
    (error: { readonly stdout: string }) => error.stdout,
  );
  expect(complaints).toBe("");

  let refusals = 1;
  const { origin, seen } = await serve((response, { target }) => {
    if (target.endsWith("gone")) return response.writeHead(404).end('{"error":"not_found"}');
    refusals -= 1;
    if (refusals === 0) return response.writeHead(429, { "retry-after": "0" }).end("{}");
    return response.writeHead(200, { "content-type": "application/json" }).end('{"id":"a/b","total":12,"paid":true}');
  });
  const env = { ...process.env, PROJECT_AUTOMATION_BASE_URL: `${origin}/v1` };
  const { stdout } = await execute(process.execPath, ["--disable-warning=ExperimentalWarning", "program.ts"], {
    cwd: folder,
    env,
  });
  expect(stdout).toBe("{ id: 'a/b', total: 12, paid: true }\nnot_found invoices.get: 404 not_found\n");
  expect(seen.map(({ method, target }) => `${method} ${target}`)).toEqual([
    "GET /v1/invoices/a%2Fb",
    "GET /v1/invoices/a%2Fb",
    "GET /v1/invoices/gone",
  ]);
});
