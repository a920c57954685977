/** The statuses that docs/frameworks.md says a backend answers with are those of its code. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProject, runProgram } from "./run.ts";
import { ownModule, root } from "./snippets.ts";

const [, table = ""] =
  /^(\| `kind` \| your token.*?)\n\n/ms.exec(readFileSync(join(root, "docs/frameworks.md"), "utf8")) ?? [];
const rows = table
  .split("\n")
  .slice(2)
  .flatMap((row) => {
    const [kinds = "", ours = "", users = ""] = row.split("|").slice(1);
    const named = [...kinds.matchAll(/`([a-z_]+)`/g)].map(([, kind]) => kind);
    return (named.length > 0 ? named : ["connection"]).map((kind) => [kind, Number(ours), Number(users)]);
  });

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
