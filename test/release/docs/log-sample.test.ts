/** The log of docs/observability.md is what a job prints. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "project-automation/testing/node";
import { expect, test } from "vitest";
import { createProject, runProgram } from "./run.ts";
import { root } from "./snippets.ts";

const page = readFileSync(join(root, "docs/observability.md"), "utf8");
const sample = /^```text\n(\[call_.*?)\n```$/ms.exec(page)?.[1] ?? "";
const linesOf = (log: string): string[] => log.replaceAll(/call_\w+|\d+ ms/g, "…").split("\n");

test("the lines of the sample are those of a call that meets the rate limit, in their order", async () => {
  await using service = await startEmulator();
  service.emulator.fault({ operation: "issues.create", status: 429, headers: { "retry-after": "1" } });
  const project = await createProject();
  try {
    const code = `
      import { Client } from "project-automation";
      await new Client().issues.create("web", { title: "Login page is blank", type: "bug" });`;
    const { printed } = await runProgram(
      project,
      { name: "job", code },
      {
        environment: {
          PROJECT_AUTOMATION_BASE_URL: service.baseUrl,
          PROJECT_AUTOMATION_TOKEN: service.token,
          PROJECT_AUTOMATION_LOG: "debug",
        },
      },
    );
    expect(linesOf(sample).length).toBeGreaterThan(3);
    expect(linesOf(printed).slice(0, linesOf(sample).length)).toEqual(linesOf(sample));
  } finally {
    project.remove();
  }
});
