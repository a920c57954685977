/** The tools as a host sees and calls them. */
import { Client, ConfigError } from "project-automation";
import { createMcpServer, type McpServerOptions } from "project-automation/mcp";
import { createEmulator, type Emulator } from "project-automation/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { connect, type Host, REVISIONS } from "./hosts.ts";

type Operation = Parameters<Emulator["fault"]>[0]["operation"];

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

  test("each tool returns the fields of the API documentation, also as text", async () => {
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
    expect(result.text).toMatch(/^The service refused the call: "there is no such project"/);
    expect(result.text).toMatch(/kind: not_found, status: 404, code: "\w+", outcome: rejected/);
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
    [{ readOnly: true, tools: ["create_issue"] }, /"create_issue" beside readOnly/],
    [{ readonly: true }, /readonly/],
    [{ totalTimeoutMs: 0 }, /totalTimeoutMs/],
  ])("%j is a ConfigError", (options, message) => {
    const client = new Client(createEmulator().clientOptions);
    expect(() => createMcpServer(client, options as McpServerOptions)).toThrow(ConfigError);
    expect(() => createMcpServer(client, options as McpServerOptions)).toThrow(message);
  });

  test("what is not a client is a ConfigError", () => {
    expect(() => createMcpServer({} as Client)).toThrow(ConfigError);
  });
});

describe("arguments", () => {
  test("limit has the bounds of the service, also in what a host lists", async () => {
    const { host, emulator } = await open();
    const { tools } = await host.client.listTools();
    for (const name of ["list_projects", "list_sessions"]) {
      const properties = tools.find((tool) => tool.name === name)?.inputSchema.properties;
      expect(properties?.["limit"], name).toMatchObject({ type: "integer", minimum: 1, maximum: 200 });
    }
    for (const limit of [0, 201, 1.5, "5"]) {
      const { isError, text } = await host.call("list_projects", { limit });
      expect([isError, text], String(limit)).toEqual([true, expect.stringMatching(/^limit: .*kind: argument/)]);
    }
    expect(emulator.requests).toEqual([]);
  });

  test("null is what a host cannot leave out", async () => {
    const { host, emulator } = await open();
    const all = (await host.call("list_projects")).structured;
    expect((await host.call("list_projects", { limit: null })).structured).toEqual(all);
    const issue = { project: "web", title: "once", type: "bug", again: null };
    const first = await host.call("create_issue", issue);
    const second = await host.call("create_issue", issue); // null is never true
    expect([first.isError, second.structured?.["repeated"]]).toEqual([false, true]);
    expect(emulator.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
    for (const required of [{ project: null }, { title: null }, { type: null }]) {
      expect((await host.call("create_issue", { ...issue, ...required })).isError, JSON.stringify(required)).toBe(true);
    }
    expect((await host.call("get_session", { id: null })).text).toMatch(/^id: /);
  });

  test.each([null, ""])("the cursor %j is the first page, which is said", async (cursor) => {
    const { host } = await open();
    for (const [tool, input] of [
      ["list_projects", {}],
      ["list_sessions", { project: "web" }],
    ] as const) {
      const plain = await host.call(tool, { ...input, limit: 1 });
      const { structured, text } = await host.call(tool, { ...input, limit: 1, cursor });
      expect(structured).toEqual(plain.structured);
      expect(text).toContain("this is the first page");
      expect(plain.text).not.toContain("this is the first page");
    }
  });

  test("an unknown one is named beside those that there are", async () => {
    const { host } = await open();
    const { text } = await host.call("create_issue", { project: "web", title: "x", type: "bug", titel: "x" });
    expect(text).toContain('unknown argument "titel"; there are project, title, type, again (kind: argument');
  });
});

test("the server says how its tools are to be used, by those that it has", async () => {
  const [all, reads] = [await open(), await open({ readOnly: true })];
  expect(all.host.client.getInstructions()).toMatch(/never instructions.*create_issue may be repeated/);
  expect(reads.host.client.getInstructions()).not.toContain("create_issue");
});

describe("a service whose responses are not as expected, with lenient validation", () => {
  const odd = async (operation: Operation, body: unknown): Promise<Host> => {
    const emulator = createEmulator();
    emulator.fault({ operation, status: 200, body, times: Number.POSITIVE_INFINITY });
    const host = await connect(new Client({ ...emulator.clientOptions, validation: "lenient" }));
    hosts.push(host);
    return host;
  };

  test("one odd record of a list is told", async () => {
    const host = await odd("projects.list", {
      data: [
        { id: "1", name: "web" },
        { id: 2, name: "x" },
      ],
      next_cursor: null,
    });
    const { isError, text } = await host.call("list_projects");
    expect(isError).toBe(true);
    expect(text).toMatch(/not of the expected shape: 1\.id: .*expected string/);
  });

  test.each([
    ["get_session", { id: "ses_1" }],
    ["wait_for_session", { id: "ses_1", until: ["done"] }],
  ])("%s says what is wrong with the session", async (tool, input) => {
    const host = await odd("sessions.get", { id: "ses_1", state: 7 });
    const { isError, text } = await host.call(tool, input);
    expect(isError).toBe(true);
    expect(text).toMatch(
      /not of the expected shape: state: .*expected string.*\(kind: validation, outcome: accepted\)/,
    );
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
    expect(text).toContain("kind: permission, status: 403");
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
    const complaints = vi.spyOn(console, "error").mockReturnValue();
    const { host } = await open({ emulator });
    const { text } = await host.call("create_issue", { project: "web", title: "x", type: "bug" });
    complaints.mockRestore();
    expect(text).toContain("outcome: unknown");
    expect(text).toContain("The issue may exist: look for it before creating it again");
  });
});
