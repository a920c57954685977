/** The tables of docs/agents.md: each row about a repeated call is run, and each name is that of the code. */
import { Client } from "project-automation";
import { createEmulator } from "project-automation/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { MCP } from "../../../src/mcp/node/command.ts";
import { TOOLS } from "../../../src/mcp/tools.ts";
import { connect, type Host, type ToolResult } from "../../mcp/hosts.ts";
import { boundRows, tableOf } from "./tables.ts";

const PAGE = "docs/agents.md";
const ISSUE = { project: "web", title: "It broke", type: "bug" };
const SCOPES = ["issues:write"] as const;
const CREATE = "issues.create";
const codesIn = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const hosts: Host[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  vi.restoreAllMocks();
});

/** A server, and what a call of its tool for the one issue sends and returns. */
async function served() {
  const emulator = createEmulator();
  const client = new Client({ ...emulator.clientOptions, retry: { minDelayMs: 1 } });
  const host = await connect(client);
  hosts.push(host);
  const create = (input: object = ISSUE): Promise<ToolResult> => host.call("create_issue", { ...input });
  const sent = (): number => emulator.requests.filter(({ operation }) => operation === CREATE).length;
  return { emulator, client, create, sent };
}

describe("a repeated call", () => {
  const { rows } = tableOf(PAGE, "the earlier call", "the repeated call");
  const cases: Readonly<Record<string, () => Promise<string>>> = {
    succeeded: async () => {
      const { create, sent } = await served();
      await create();
      expect(await create()).toMatchObject({ structured: { number: 1, repeated: true } });
      expect([sent(), Object.keys((await create()).structured ?? {})]).toEqual([
        1,
        expect.arrayContaining(["created_at"]),
      ]);
      return "returns that issue with `repeated: true` and `created_at`, from memory";
    },
    "is still running": async () => {
      const { create, sent, emulator } = await served();
      const both = await Promise.all([create(), create()]);
      expect([both.map(({ structured }) => structured?.["repeated"]), sent()]).toEqual([[false, true], 1]);
      emulator.fault({ operation: CREATE, status: 422 });
      const other = { ...ISSUE, title: "Another one" };
      const [first, second] = await Promise.all([create(other), create(other)]);
      expect([first.isError, second.structured?.["repeated"], sent()]).toEqual([true, false, 3]);
      return "waits; if the first creates nothing, sends its own request";
    },
    "may have created the issue": async () => {
      const { create, sent, emulator } = await served();
      vi.spyOn(console, "error").mockReturnValue(); // the server says it there, too
      emulator.fault({ operation: CREATE, drop: "after" });
      await create();
      const { isError, text } = await create();
      expect([isError, text, sent()]).toEqual([true, expect.stringMatching(/ at 20\d\d-.*Z, may have created/), 1]);
      return "fails, says since when, and sends nothing";
    },
    "created nothing": async () => {
      const { create, sent, emulator } = await served();
      emulator.fault({ operation: CREATE, status: 422 });
      await create();
      expect([(await create()).structured?.["repeated"], sent()]).toEqual([false, 2]);
      return "sends its request";
    },
    "was made with another token": async () => {
      const { create, sent, emulator, client } = await served();
      await create();
      client.setToken(emulator.createToken({ scopes: SCOPES }).plaintext);
      expect([(await create()).structured?.["repeated"], sent()]).toEqual([false, 2]);
      return "sends its request";
    },
    "named the project by its id, and this one by its name": async () => {
      const { create, sent, emulator } = await served();
      await create({ ...ISSUE, project: emulator.projects.list()[0]?.id });
      expect([(await create()).structured?.["repeated"], sent()]).toEqual([false, 2]);
      return "sends its request";
    },
  };
  test.each(boundRows(rows, cases))("$first", async ({ cells, run }) => expect([await run()]).toEqual(cells));
});

test("the tools, their scopes, arguments and results are those of the code", () => {
  const told = tableOf(PAGE, "tool", "scope").rows.map(([tool, scope, given, returned]) => ({
    tool: codesIn(tool)[0],
    scope: codesIn(scope)[0],
    input: codesIn(given).flatMap((code) => code.match(/^\w+\??$/) ?? []),
    output: new Set(
      codesIn(returned)[0]
        ?.replace(/: \[.*\]/, "")
        .match(/[a-z_]+\??/g),
    ),
  }));
  expect(told).toEqual(
    Object.entries(TOOLS).map(([tool, { scope, input, output }]) => {
      const named = (
        shape: Readonly<Record<string, { safeParse(value: undefined): { success: boolean } }>>,
      ): string[] =>
        Object.entries(shape).map(([name, field]) => (field.safeParse(undefined).success ? `${name}?` : name));
      return { tool, scope, input: named(input.shape), output: new Set(named(output.shape)) };
    }),
  );
});

test("the flags are those of the command", () => {
  const told = tableOf(PAGE, "flag", "").rows.map(([flag]) => codesIn(flag)[0]);
  const real = [...MCP.help.matchAll(/^ {2}(--[a-z-]+(?: [A-Z,]+)?)(?= )/gm)].map(([, flag]) => flag);
  expect(told).toEqual(real.filter((flag) => flag !== "--help" && flag !== "--version"));
});
