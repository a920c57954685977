/** The examples on the runtimes beside Node, each started twice where it keeps a file. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "project-automation/testing/node";
import { describe, expect, test } from "vitest";
import { NEEDS_ALL } from "../../support/all-tests.ts";
import { OTHER_PLATFORMS } from "../../support/platforms.ts";
import { run, type Start, temporaryFolder } from "./program.ts";

async function ends(command: readonly string[], start: Start): Promise<string> {
  const { code, output } = await run(command, start);
  expect(code, output).toBe(0);
  return output;
}

test.runIf(NEEDS_ALL)("Bun and Deno are here", () => {
  expect(OTHER_PLATFORMS.map(({ name }) => name)).toEqual(["Bun", "Deno"]);
});

describe.concurrent.each(OTHER_PLATFORMS)("on $name", ({ platform }) => {
  test("an import creates each row once, and its second start nothing", async () => {
    await using service = await startEmulator();
    using folder = temporaryFolder();
    const start = { service, folder: folder.path, platform };
    const titles = Array.from({ length: 25 }, (_, index) => `issue ${index}`);
    const rows = titles.map((title) => ({ project: "web", title, type: "bug" }));
    writeFileSync(join(folder.path, "issues.json"), JSON.stringify(rows));
    const created = (): string[] => service.emulator.issues.list("web").map(({ title }) => title);
    expect(await ends(["bulk-issues.ts", "issues.json"], start)).toMatch(/^created in this run: 25\s*$/m);
    expect(created().sort()).toEqual(titles.sort());
    expect(await ends(["bulk-issues.ts", "issues.json"], start)).toMatch(/^created in this run: 0\s*$/m);
    expect(created()).toHaveLength(25);
  });

  test("an export holds each project once", async () => {
    await using service = await startEmulator({ projects: 450 });
    using folder = temporaryFolder();
    await ends(["export-projects.ts", "out.ndjson"], { service, folder: folder.path, platform });
    const lines = readFileSync(join(folder.path, "out.ndjson"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual(service.emulator.projects.list());
  });

  test("a token that is rotated is the one that is stored", async () => {
    await using service = await startEmulator();
    using folder = temporaryFolder();
    const start = { service, folder: folder.path, platform };
    await ends(["rotate-token-in-ci.ts", "create", "token.json"], start);
    const before = readFileSync(join(folder.path, "token.json"), "utf8");
    await ends(["rotate-token-in-ci.ts", "rotate", "token.json"], start);
    const after = readFileSync(join(folder.path, "token.json"), "utf8");
    expect(after).not.toBe(before);
    const { plaintext } = JSON.parse(after) as { readonly plaintext: string }; // a record of the example
    const { status } = await fetch(`${service.baseUrl}/projects`, {
      headers: { authorization: `Bearer ${plaintext}` },
    });
    expect(status).not.toBe(401);
  });

  test.each(["quickstart.ts", "error-handling.ts", "tools-for-agents.ts"])("%s ends well", async (script) => {
    await using service = await startEmulator({ sessionStates: ["queued", "running", "done"] });
    using folder = temporaryFolder();
    expect(await ends([script], { service, folder: folder.path, platform })).not.toBe("");
  });
});
