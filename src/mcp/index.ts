/** The operations of a client as tools of a Model Context Protocol server. */
export { createMcpServer, type McpServerOptions } from "./server.ts";
export type { ToolName } from "./tools.ts";
