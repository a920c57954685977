/** The statuses that the code of docs/frameworks.md answers with are those of docs/errors.md. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProject, runProgram } from "./run.ts";
import { ownModule, root } from "./snippets.ts";

const errors = readFileSync(join(root, "docs/errors.md"), "utf8");
const statusesIn = (name: string): ReadonlyMap<string, number> => {
  const code = new RegExp(`const ${name}: [^\\n]*= \\{(.*?)^\\};`, "ms").exec(errors)?.[1] ?? "";
  return new Map(
    [...code.matchAll(/(\w+): \[(\d{3}),/g)].map(([, kind = "", status]) => [kind, Number(status)] as const),
  );
};
const ofUsers = statusesIn("OF_USERS");
const rows = [...statusesIn("ANSWERS")].map(([kind, status]) => [kind, status, ofUsers.get(kind) ?? status] as const);

test("each kind has the status of the table, for your own token and for a user's", async () => {
  const project = await createProject();
  try {
    const program = `
      import { Client } from "project-automation";
      import { answerTo } from "./${ownModule.file}";
      console.error = () => undefined;
      const kinds = ${JSON.stringify(rows.map(([kind]) => kind))};
      let refusal;
      try { new Client({ baseUrl: "nowhere" }); } catch (error) { refusal = error; }
      const like = (kind) => Object.create(refusal, { kind: { value: kind } });
      console.log(JSON.stringify(kinds.map((kind) => [kind, answerTo(like(kind)).status, answerTo(like(kind), "user").status])));`;
    const { printed } = await runProgram(project, { name: "statuses", code: program });
    expect(rows.length).toBeGreaterThan(10);
    expect(JSON.parse(printed)).toEqual(rows);
  } finally {
    project.remove();
  }
});
