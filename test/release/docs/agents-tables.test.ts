/** The tables of docs/agents.md: each row about a repeated call is run, and each name is that of the code. */
import { Client, type ClientOptions, rotatingToken } from "project-automation";
import { type Journal, memoryJournal } from "project-automation/bulk";
import { createEmulator, type Emulator } from "project-automation/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { MCP } from "../../../src/mcp/node/command.ts";
import { TOOLS } from "../../../src/mcp/tools.ts";
import { connect, type Host, type ToolResult } from "../../mcp/hosts.ts";
import { boundRows, tableOf } from "./tables.ts";

const PAGE = "docs/agents.md";
const ISSUE = { project: "web", title: "It broke", type: "bug" };
const SCOPES = ["issues:write", "projects:read"] as const;
const CREATE = "issues.create";
const codesIn = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const hosts: Host[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  vi.restoreAllMocks();
});
async function hostOf(client: Client, journal?: Journal): Promise<Host> {
  const host = await connect(client, { journal });
  hosts.push(host);
  return host;
}
const clientOf = (emulator: Emulator, token: NonNullable<ClientOptions["token"]>): Client =>
  new Client({ ...emulator.clientOptions, token, retry: { minDelayMs: 1 } });
const tokenOf = (emulator: Emulator) => emulator.createToken({ scopes: SCOPES });

/** A server, and what a call of its tool for the one issue sends and returns. */
async function served(token?: NonNullable<ClientOptions["token"]>) {
  const emulator = createEmulator();
  const client = clientOf(emulator, token ?? emulator.token);
  const host = await hostOf(client);
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
      client.setToken(tokenOf(emulator).plaintext);
      const { isError, text, structured } = await create();
      expect([isError, structured, sent()]).toEqual([true, undefined, 1]);
      expect(text).not.toMatch(/number|#1/);
      return "fails, tells nothing of that issue, and sends nothing";
    },
    "named the project by its id, and this one by its name": async () => {
      const { create, sent, emulator } = await served();
      await create({ ...ISSUE, project: emulator.projects.list()[0]?.id });
      expect([(await create()).isError, sent()]).toEqual([true, 1]);
      return "fails, and sends nothing";
    },
  };
  test.each(boundRows(rows, cases))("$first", async ({ cells, run }) => expect([await run()]).toEqual(cells));
});

describe("another token", () => {
  const { rows } = tableOf(PAGE, "the token changes by", "the new token");
  /** The issue is created with one token, the token changes, and the call is repeated: what that one knows. */
  async function knows(
    token: (emulator: Emulator) => NonNullable<ClientOptions["token"]>,
    change: (client: Client, emulator: Emulator) => unknown,
  ): Promise<string> {
    const emulator = createEmulator();
    const journal = memoryJournal();
    const client = clientOf(emulator, token(emulator));
    const host = await hostOf(client, journal);
    await host.call("create_issue", ISSUE);
    const other = await change(client, emulator);
    const next = {
      load: () => journal.load(),
      append: (records: Parameters<Journal["append"]>[0]) => journal.append(records),
    };
    const asked = other instanceof Client ? await hostOf(other, next) : host;
    const { isError, structured } = await asked.call("create_issue", ISSUE);
    if (isError) return "is another user: the other's issue is a doubt";
    return structured?.["repeated"] === true ? "knows the issues of" : "is another user: it knows nothing, and sends";
  }
  const rotated = (emulator: Emulator) => {
    const { id, plaintext, expires_at } = tokenOf(emulator);
    return rotatingToken({ token: { id, plaintext, expires_at }, renewBeforeMs: 1, onRotated: () => {} });
  };
  const DAYS_MS = 400 * 24 * 60 * 60_000;
  const cases: Readonly<Record<string, () => Promise<string>>> = {
    "a rotation that the client makes (`adopt: true`, `rotatingToken`)": async () => {
      let id = "";
      const held = (emulator: Emulator): string => {
        const token = tokenOf(emulator);
        id = token.id;
        return token.plaintext;
      };
      const adopted = await knows(held, (client) => client.tokens.rotate(id, { adopt: true }));
      const rotates = await knows(rotated, async (client) => {
        vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + DAYS_MS });
        await client.projects
          .list()
          .page()
          .catch(() => undefined);
        vi.useRealTimers();
      });
      expect(rotates).toBe(adopted);
      return `${adopted} the old one`;
    },
    "a renewal by the provider after a 401": async () => {
      let token = "";
      const provider = (emulator: Emulator): ClientOptions["token"] & object => {
        token = tokenOf(emulator).plaintext;
        return ({ rejected }) => {
          if (rejected !== undefined) token = tokenOf(emulator).plaintext;
          return token;
        };
      };
      const renewed = await knows(provider, async (client, emulator) => {
        emulator.leak(token);
        await client.projects.list().page();
      });
      return `${renewed} the rejected one`;
    },
    "another answer of the provider, without a 401": () => {
      let token = "";
      const provider = (emulator: Emulator) => {
        token = tokenOf(emulator).plaintext;
        return () => token;
      };
      return knows(provider, (_, emulator) => {
        token = tokenOf(emulator).plaintext;
      });
    },
    "`setToken`": () =>
      knows(
        (emulator) => tokenOf(emulator).plaintext,
        (client, emulator) => client.setToken(tokenOf(emulator).plaintext),
      ),
    "a restart with `--journal` and another token": () =>
      knows(
        (emulator) => tokenOf(emulator).plaintext,
        (_, emulator) => clientOf(emulator, tokenOf(emulator).plaintext),
      ),
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
