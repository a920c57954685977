/** The tools as a host sees and calls them. */
import { Client, ConfigError } from "project-automation";
import { createMcpServer, type McpServerOptions } from "project-automation/mcp";
import { createEmulator, type Emulator } from "project-automation/testing";
import { afterEach, describe, expect, test } from "vitest";
import { connect, type Host, REVISIONS } from "./hosts.ts";

const hosts: Host[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
});

async function open(
  { emulator = createEmulator(), ...options }: McpServerOptions & { emulator?: Emulator } = {},
  revision: (typeof REVISIONS)[number] = "current",
): Promise<{ host: Host; emulator: Emulator; client: Client }> {
  const client = new Client({ ...emulator.clientOptions, retry: { minDelayMs: 1 } });
  const host = await connect(client, options, revision);
  hosts.push(host);
  return { host, emulator, client };
}

const READS = ["list_projects", "list_sessions", "get_session", "wait_for_session"];

describe.each(REVISIONS)("in the %s revision of the protocol", (revision) => {
  test("the tools are these, with truthful annotations", async () => {
    const { host } = await open({}, revision);
    const { tools } = await host.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...READS, "create_issue"]);
    for (const { name, annotations } of tools) {
      expect(annotations, name).toMatchObject(
        READS.includes(name)
          ? { readOnlyHint: true, openWorldHint: true }
          : { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
      );
    }
  });

  test("each tool returns the fields of the contract, also as text", async () => {
    const { host } = await open({}, revision);
    const projects = await host.call("list_projects", { limit: 1 });
    expect(projects.structured).toEqual({
      data: [{ id: expect.any(String), name: "web" }],
      next_cursor: expect.any(String),
    });
    expect(JSON.parse(projects.text)).toEqual(projects.structured);
    const next = await host.call("list_projects", { limit: 1, cursor: projects.structured?.["next_cursor"] });
    expect(next.structured).toMatchObject({ data: [{ name: "api" }] });
    const sessions = await host.call("list_sessions", { project: "web" });
    expect(sessions.structured).toMatchObject({
      data: expect.arrayContaining([{ id: "ses_1", state: expect.any(String) }]),
    });
    expect((await host.call("get_session", { id: "ses_1" })).structured).toEqual({
      id: "ses_1",
      state: expect.any(String),
    });
    const created = await host.call("create_issue", { project: "web", title: "It broke", type: "bug" });
    expect(created.structured).toMatchObject({ number: 1, title: "It broke", status: "open", repeated: false });
  });

  test("an unknown argument is refused and named, and nothing is sent", async () => {
    const { host, emulator } = await open({}, revision);
    for (const name of [...READS, "create_issue"]) {
      const { isError, text } = await host.call(name, { titel: "x" });
      expect(isError, name).toBe(true);
      expect(text, name).toContain("titel");
    }
    expect(emulator.requests).toEqual([]);
  });

  test("a failure has no structured content, and says kind, status, outcome and what to do", async () => {
    const { host } = await open({}, revision);
    const result = await host.call("create_issue", { project: "nope", title: "x", type: "bug" });
    expect(result.isError).toBe(true);
    expect(result.structured).toBeUndefined();
    expect(result.text).toContain("there is no such project");
    expect(result.text).toContain("kind: not_found, status: 404, outcome: rejected");
    expect(result.text).toContain("list tools");
  });
});

describe("which tools there are", () => {
  const namesOf = async (options: McpServerOptions): Promise<string[]> => {
    const { host } = await open(options);
    return (await host.client.listTools()).tools.map(({ name }) => name);
  };

  test("readOnly leaves out the tools that write", async () => {
    expect(await namesOf({ readOnly: true })).toEqual(READS);
  });

  test("tools names those that there are", async () => {
    expect(await namesOf({ tools: ["create_issue", "get_session"] })).toEqual(["get_session", "create_issue"]);
  });

  test.each([
    [{ tools: ["create_isue"] }, /unknown tool "create_isue"; there are list_projects/],
    [{ tools: ["t".repeat(41)] }, /unknown tool; there are list_projects/],
    [{ readOnly: true, tools: ["create_issue"] }, /"create_issue" beside readOnly/],
    [{ readonly: true }, /readonly/],
    [{ totalTimeoutMs: 0 }, /totalTimeoutMs/],
    [{ journal: {} }, /journal/],
  ])("%j is a ConfigError", (options, message) => {
    const client = new Client(createEmulator().clientOptions);
    expect(() => createMcpServer(client, options as McpServerOptions)).toThrow(ConfigError);
    expect(() => createMcpServer(client, options as McpServerOptions)).toThrow(message);
  });

  test("what is not a client is a ConfigError", () => {
    expect(() => createMcpServer({} as Client)).toThrow(ConfigError);
  });
});

describe("secrets", () => {
  test("fields that the contract does not show reach no model", async () => {
    const emulator = createEmulator();
    emulator.fault({
      operation: "sessions.get",
      status: 200,
      body: { id: "ses_1", state: "running", note: emulator.token },
      times: 1,
    });
    const { host } = await open({ emulator });
    const { structured, text } = await host.call("get_session", { id: "ses_1" });
    expect(structured).toEqual({ id: "ses_1", state: "running" });
    expect(text).not.toContain(emulator.token);
  });

  test("a token that the service echoes in a refusal is not in the result", async () => {
    const emulator = createEmulator();
    emulator.fault({ operation: "sessions.get", status: 400, body: { error: "bad", message: `no ${emulator.token}` } });
    const { host } = await open({ emulator });
    const { text } = await host.call("get_session", { id: "ses_1" });
    expect(text).toContain("400 bad");
    expect(text).not.toContain(emulator.token);
  });
});

describe("advice", () => {
  test("names the scope that is missing", async () => {
    const emulator = createEmulator();
    const { plaintext } = await new Client(emulator.clientOptions).tokens.create({
      name: "t",
      scopes: ["projects:read"],
    });
    const host = await connect(new Client({ ...emulator.clientOptions, token: plaintext }));
    hosts.push(host);
    const { isError, text } = await host.call("create_issue", { project: "web", title: "x", type: "bug" });
    expect(isError).toBe(true);
    expect(text).toContain("kind: permission, status: 403, outcome: rejected");
    expect(text).toContain("lacks the scope issues:write");
  });

  test("says when to come back from a pause that is too long", async () => {
    const emulator = createEmulator();
    emulator.fault({ operation: "projects.list", status: 429, headers: { "retry-after": "600" } });
    const { host } = await open({ emulator });
    const { text } = await host.call("list_projects");
    expect(text).toMatch(/kind: rate_limit, status: 429.*Call the tool again in 60\d s/s);
  });

  test("of a write that may have been applied is to look first", async () => {
    const emulator = createEmulator();
    emulator.fault({ operation: "issues.create", drop: "after" });
    const { host } = await open({ emulator });
    const { text } = await host.call("create_issue", { project: "web", title: "x", type: "bug" });
    expect(text).toContain("outcome: unknown");
    expect(text).toContain("The issue may exist: look for it before creating it again");
  });
});
