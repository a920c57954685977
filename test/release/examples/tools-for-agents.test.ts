import { expect, test } from "vitest";
import { run, temporaryFolder } from "./program.ts";

test("tools-for-agents creates one issue, is told why another failed, and waits for a session", async () => {
  using folder = temporaryFolder();
  const service = { baseUrl: "", token: "" }; // it starts its own
  const { code, output } = await run(["tools-for-agents.ts"], { service, folder: folder.path });
  const lines = output.trim().split("\n");
  expect(code, output).toBe(0);
  expect(lines[0]).toBe("tools: list_projects, list_sessions, get_session, wait_for_session, create_issue");
  expect(output.match(/^create_issue: .*"number":1.*$/gm)?.map((line) => /"repeated":(\w+)/.exec(line)?.[1])).toEqual([
    "false",
    "true",
  ]);
  expect(output).toMatch(/^create_issue: error: .*there is no such project.*list tools/m);
  expect(lines.at(-1)).toContain('"state":"done","done":true');
});

test("tools-for-agents-own-tool adds a tool, which returns what an endpoint says, also why it refuses", async () => {
  using folder = temporaryFolder();
  const service = { baseUrl: "", token: "" }; // its emulator is in the program
  const { code, output } = await run(["tools-for-agents-own-tool.ts"], { service, folder: folder.path });
  expect(code, output).toBe(0);
  expect(output.trim().split("\n")).toEqual([
    "tools: list_projects, list_sessions, get_session, wait_for_session, create_issue, list_library",
    'web: {"titles":["Style guide","Release plan"]}',
    'wbe: {"kind":"not_found","detail":"there is no such project"}',
  ]);
});
