/**
 * A Worker with one client for all its visitors. When a visitor has been answered, workerd runs nothing more of the visit:
 * neither its continuations nor its timers.
 */
import type { createMcpHandler } from "@modelcontextprotocol/server";
import type * as Package from "project-automation";
import type * as Bulk from "project-automation/bulk";
import type * as Mcp from "project-automation/mcp";

// @ts-expect-error -- a module of the configuration of workerd
const { Client, path, rotatingToken } = (await import("./package/index.js")) as typeof Package;
// @ts-expect-error -- likewise
const { bulkWrite, memoryJournal } = (await import("./package/bulk/index.js")) as typeof Bulk;
// @ts-expect-error -- likewise, with the package that its reader installs
const tools = (await import("./package/tools.js")) as typeof Mcp & { createMcpHandler: typeof createMcpHandler };

interface Environment {
  readonly ORIGIN: string;
}

type Options = Omit<Package.ClientOptions, "baseUrl">;

const ask = async (url: string, init?: RequestInit): Promise<string> => await (await fetch(url, init)).text();

/** The options of each world's client. */
const OPTIONS: Readonly<Record<string, (origin: string) => Options>> = {
  plain: () => ({ token: "pat_key_secret" }),
  provider: (origin) => ({ token: () => ask(`${origin}/vault`) }),
  renewal: (origin) => ({
    token: ({ rejected }) => (rejected === undefined ? "pat_revoked_secret" : ask(`${origin}/vault`)),
  }),
  signal: (origin) => ({
    token: ({ rejected, signal }) =>
      rejected === undefined ? "pat_revoked_secret" : ask(`${origin}/vault`, { signal }),
  }),
  rotation: () => {
    const token = rotatingToken({
      token: { id: "t1", plaintext: "pat_key_secret", expires_at: new Date(Date.now() + 60_000).toISOString() },
      onRotated: () => undefined,
    });
    tokens.push(token);
    return { token };
  },
  storing: (origin) => {
    const token = rotatingToken({
      token: { id: "stored", plaintext: "pat_key_secret", expires_at: new Date(Date.now() + 60_000).toISOString() },
      onRotated: () => ask(`${origin}/vault`).then(() => undefined),
    });
    tokens.push(token);
    return { token };
  },
  slots: () => ({ token: "pat_key_secret", maxConcurrency: 2 }),
};

const clients = new Map<string, Package.Client>();
const tokens: Package.RotatingToken[] = [];

function clientOf(world: string, origin: string): Package.Client {
  const known = clients.get(world);
  if (known !== undefined) return known;
  const options = OPTIONS[world.split("-")[0] ?? ""]?.(origin);
  const client = new Client({ baseUrl: `${origin}/${world}/v1`, timeoutMs: 2_000, ...options });
  clients.set(world, client);
  return client;
}

const timer = (ms: number): Promise<string> => new Promise((resolve) => setTimeout(() => resolve("left"), ms));

/** Writes each row by a request, and tells the counts. */
const importRows = async (client: Package.Client, rows: readonly string[]): Promise<string> => {
  const run = bulkWrite({
    client,
    items: rows.map((row, at) => ({ row, at })),
    key: ({ at }) => String(at),
    send: (own, { row }) => own.request({ method: "POST", path: path`/rows/${row}`, json: {} }),
    journal: memoryJournal(),
  });
  await run.catch(() => {}); // what is left is in its counts
  const { done, unknown } = run.summary;
  return `done: ${done}, unknown: ${unknown}`;
};

const HOST = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** A host calls a tool by HTTP. The server is made for each request. */
const callTool = async (client: Package.Client, name: string, input: object): Promise<string> => {
  const { fetch: handle } = tools.createMcpHandler(() => tools.createMcpServer(client, { totalTimeoutMs: 1_500 }));
  const params = { name, arguments: input };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  return await (await handle(new Request("http://host/mcp", { method: "POST", headers: HOST, body }))).text();
};
const createIssue = (client: Package.Client, project: string): Promise<string> =>
  callTool(client, "create_issue", { project, title: "It breaks", type: "bug" });

/** What visitors do. Each is answered while a call of theirs is under way. */
const VISITS: Readonly<Record<string, (client: Package.Client) => Promise<unknown>>> = {
  all: async (client) => await Promise.all([client.sessions.get("missing"), client.sessions.get("slow")]),
  "all-reversed": async (client) => await Promise.all([client.sessions.get("slow"), client.sessions.get("missing")]),
  alone: async (client) => await Promise.race([client.sessions.get("slow"), timer(50)]),
  race: async (client) => await Promise.race([client.sessions.get("slow"), timer(50)]),
  pause: async (client) => await client.sessions.get("limited", { retry: false }),
  settled: async () => await Promise.all(tokens.map((token) => token.settled())).then(() => "settled"),
  wait: async (client) => await Promise.race([client.sessions.waitFor("fine", { until: () => false }), timer(50)]),
  // The visitor's own signal ends with the visit.
  aborted: async (client) =>
    await Promise.race([client.sessions.get("slow", { signal: AbortSignal.timeout(40) }), timer(50)]),
  import: async (client) => await Promise.race([importRows(client, ["slow", "slow", "slow"]), timer(50)]),
  "import-other": async (client) => await importRows(client, ["fine", "fine", "fine"]),
  tool: async (client) => await Promise.race([callTool(client, "get_session", { id: "slow" }), timer(50)]),
  "tool-other": async (client) => await callTool(client, "get_session", { id: "fine" }),
  create: async (client) => await Promise.race([createIssue(client, "slow"), timer(50)]),
  "create-again": async (client) => await createIssue(client, "slow"),
  "create-other": async (client) => await createIssue(client, "fine"),
  made: async () => "made",
  rotated: async (client) => {
    await client.sessions.get("fine");
    return tokens.at(-1)?.latest().plaintext;
  },
  other: async (client) => (await client.sessions.get("fine")).state,
};

// biome-ignore lint/style/noDefaultExport: a Worker is one
export default {
  async fetch(request: Request, { ORIGIN }: Environment): Promise<Response> {
    const [, world = "", visit = ""] = new URL(request.url).pathname.split("/");
    try {
      return new Response(String(await VISITS[visit]?.(clientOf(world, ORIGIN))));
    } catch (error) {
      return new Response(String(error));
    }
  },
};
