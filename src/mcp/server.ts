import { type CallToolResult, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import type { Journal } from "../bulk/journal.ts";
import { closestName } from "../client/checks/hints.ts";
import { invalid } from "../client/checks/invalid-input.ts";
import { expectType, parseOptions } from "../client/checks/parse-options.ts";
import { BOOLEAN, INTERVAL, type ObjectSchema, validator, withMethods } from "../client/checks/validators.ts";
import { nameOf } from "../client/checks/values.ts";
import type { Client } from "../client/client.ts";
import { asErrorClass } from "../client/errors/as-error-class.ts";
import { withCallerStack } from "../client/errors/caller-stack.ts";
import { ConfigError } from "../client/errors/classes.ts";
import { Deadline, STOPPED } from "../client/time/deadline.ts";
import { VERSION } from "../client/version.ts";
import { describeFailure } from "./failure.ts";
import { IssueGuard } from "./issue-guard.ts";
import { notifyProgress } from "./progress.ts";
import { TOOLS, type Tool, type ToolContext, type ToolName } from "./tools.ts";

/** Options of `createMcpServer`. */
export interface McpServerOptions {
  /**
   * Leaves out the tools that write.
   * @default false
   */
  readOnly?: boolean | undefined;
  /** The tools to register; without it, all of them. */
  tools?: readonly ToolName[] | undefined;
  /**
   * How long one call of a tool may take, in milliseconds, waits for the rate limit included. Hosts wait for a minute.
   * @default 50_000
   */
  totalTimeoutMs?: number | undefined;
  /**
   * Where created issues are recorded, so that a repeated call creates nothing also after a restart: the `fileJournal` of
   * `project-automation/bulk/node`, or one of your own. All servers of a client use the same one.
   */
  journal?: Journal | undefined;
}

const NAMES = Object.keys(TOOLS) as ToolName[]; // they are its keys

const OPTIONS: ObjectSchema<McpServerOptions> = {
  readOnly: BOOLEAN,
  tools: validator("an array of names of tools", Array.isArray),
  totalTimeoutMs: INTERVAL,
  journal: withMethods("a journal", "load", "append"),
};

/**
 * Creates a Model Context Protocol server whose tools are operations of `client`: `list_projects`, `list_sessions`,
 * `get_session`, `wait_for_session` and `create_issue`. Calls share the client's rate limiter, retries and token. The
 * server has no transport yet: connect it, or return it from the factory of `serveStdio` or `createMcpHandler`.
 *
 * `create_issue` creates no duplicate when a model repeats a call; what it remembers belongs to the client.
 *
 * @throws ConfigError if an option is unknown or of the wrong type, if a tool is unknown, or writes beside `readOnly`.
 *
 * @example
 * const server = createMcpServer(client, { readOnly: true });
 * await server.connect(transport);
 */
export function createMcpServer(client: Client, options?: McpServerOptions): McpServer {
  const read = () => {
    const { readOnly = false, tools, totalTimeoutMs = 50_000, journal } = parseOptions(options, "options", OPTIONS);
    expectType(client, "client", withMethods("a Client", "request", "paginate"));
    const issues =
      IssueGuard.of(client, journal) ?? invalid("options.journal must be the one that the client's other servers have");
    return { names: selectTools(tools, readOnly), issues, totalTimeoutMs };
  };
  const { names, issues, totalTimeoutMs } = withCallerStack(createMcpServer, () => asErrorClass(ConfigError, read));
  const server = new McpServer({ name: "project-automation", version: VERSION }, { capabilities: { tools: {} } });
  for (const name of names) register(server, name, { client, issues, totalTimeoutMs });
  return server;
}

function selectTools(wanted: readonly ToolName[] | undefined, readOnly: boolean): readonly ToolName[] {
  for (const name of wanted ?? []) {
    if (!NAMES.includes(name)) {
      const meant = closestName(String(name), NAMES);
      const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
      const unknown = ["unknown tool", nameOf(String(name))].join(" ").trim();
      invalid(`tools: ${unknown}; there are ${NAMES.join(", ")}${hint}`);
    }
    if (readOnly && TOOLS[name].writes) invalid(`tools: "${name}" beside readOnly: it writes`);
  }
  return NAMES.filter((name) => (wanted?.includes(name) ?? true) && !(readOnly && TOOLS[name].writes));
}

/** What all calls of all tools of a server share. */
type Shared = Pick<ToolContext, "client" | "issues"> & { readonly totalTimeoutMs: number };

function register(server: McpServer, name: ToolName, shared: Shared): void {
  const tool = TOOLS[name] as Tool; // each takes what its own schema lets through
  const { title, description, input, output, writes } = tool;
  const annotations = writes
    ? { title, readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true }
    : { title, readOnlyHint: true, openWorldHint: true };
  server.registerTool(
    name,
    { title, description, inputSchema: input, outputSchema: output, annotations },
    (given, context) => runTool(tool, given, { shared, context }),
  );
}

async function runTool(
  tool: Tool,
  given: Record<string, unknown>,
  { shared, context }: { readonly shared: Shared; readonly context: ServerContext },
): Promise<CallToolResult> {
  const { signal } = context.mcpReq;
  const deadline = Deadline.of(shared.totalTimeoutMs, signal);
  const { client, issues } = shared;
  let waiting: string | undefined;
  const endProgress = notifyProgress(context, () => describePause(client) ?? waiting);
  try {
    const { content, note } = await tool.call(given, {
      client,
      issues,
      options: () => ({ signal, totalTimeoutMs: Math.max(1, Math.ceil(deadline.leftMs)) }),
      wait: (work) => deadline.race(work),
      waitsFor: (what) => {
        waiting = what;
      },
    });
    const text = JSON.stringify(content);
    return {
      content: [{ type: "text", text: note === undefined ? text : `${text}\n${note}` }],
      structuredContent: content,
    };
  } catch (error) {
    const text =
      error === STOPPED
        ? "Nothing was sent: the time of this call is over while it waits for an earlier call with the same arguments, or for the record of created issues. Call the tool again."
        : describeFailure(error, tool);
    return { content: [{ type: "text", text }], isError: true };
  } finally {
    endProgress();
    deadline.release();
  }
}

function describePause({ rateLimit }: Client): string | undefined {
  const leftMs = (rateLimit?.pausedUntil?.getTime() ?? 0) - Date.now();
  return leftMs > 0 ? `waiting for the rate limit of the service: ${Math.ceil(leftMs / 1_000)} s left` : undefined;
}
