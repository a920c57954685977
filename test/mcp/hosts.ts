/** Hosts of the protocol: the current client of the protocol and the older line, over streams in memory or a process. */
import { Client as CurrentHost, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OlderHost } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Client } from "project-automation";
import { createMcpServer, type McpServerOptions } from "project-automation/mcp";

/** How a host speaks: the current revision of the protocol, or an older one. */
export type Revision = "current" | "older";

export const REVISIONS: readonly Revision[] = ["current", "older"];

export interface ToolResult {
  readonly isError: boolean;
  /** The text of the result. */
  readonly text: string;
  readonly structured: Record<string, unknown> | undefined;
}

export interface CallToolOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number; readonly message?: string | undefined }) => void;
}

/** What tests do with a host. */
export interface Host {
  /** The host's own client, for what only a test of the protocol asks. */
  readonly client: CurrentHost;
  call(tool: string, input?: Record<string, unknown>, options?: CallToolOptions): Promise<ToolResult>;
  close(): Promise<void>;
}

/** A host that is connected to a server of the given client, in this process. */
export async function connect(
  client: Client,
  options?: McpServerOptions,
  revision: Revision = "current",
): Promise<Host> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const connection = serveStdio(() => createMcpServer(client, options), { transport: far });
  const host = await hostOf(new CurrentHost({ name: "test", version: "1" }, negotiating(revision)), near);
  return { ...host, close: () => host.close().then(() => connection.close()) };
}

/** A host that starts a program, with the current client of the protocol or that of the older line. */
export async function startProgram(program: Program, line: Revision): Promise<Host> {
  if (line === "current") {
    return hostOf(
      new CurrentHost({ name: "test", version: "1" }, negotiating("current")),
      new StdioClientTransport(program),
    );
  }
  const older = new OlderHost({ name: "test", version: "1" });
  // The older line has the methods that are used here.
  return hostOf(older as unknown as CurrentHost, new OlderStdio(program));
}

export interface Program {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly stderr: "pipe" | "inherit";
}

function negotiating(revision: Revision): ConstructorParameters<typeof CurrentHost>[1] {
  return { versionNegotiation: { mode: revision === "current" ? "auto" : "legacy" } };
}

async function hostOf(client: CurrentHost, transport: Transport): Promise<Host> {
  await client.connect(transport);
  return {
    client,
    close: () => client.close(),
    async call(name, input = {}, options) {
      const request = { name, arguments: input };
      const older: unknown = client; // the older line has one more parameter
      const result = (await (older instanceof OlderHost
        ? older.callTool(request, undefined, options)
        : client.callTool(request, options))) as Raw; // what both lines return
      const text = result.content.map((part) => part.text ?? "").join("\n");
      return { isError: result.isError === true, text, structured: result.structuredContent };
    },
  };
}

interface Raw {
  readonly isError?: boolean;
  readonly content: readonly { readonly text?: string }[];
  readonly structuredContent?: Record<string, unknown>;
}
