/**
 * Adds a tool of its own to the server of tools: an endpoint that has no tool yet. The tool sends its request with
 * `client.request`, so it has the same token, rate limit, retries and errors. A host in this program calls it.
 *
 * Run it: node examples/tools-for-agents-own-tool.ts
 */
import { Client as Host } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { Client, isAutomationError, path } from "project-automation";
import { createMcpServer } from "project-automation/mcp";
import { createEmulator } from "project-automation/testing";
import * as z from "zod";

// An emulator of the service, with one endpoint more.
const emulator = createEmulator();
emulator.route({
  method: "GET",
  path: "/projects/{project}/library",
  scope: "projects:read",
  handle: ({ params }) =>
    params["project"] === "web"
      ? { body: { titles: ["Style guide", "Release plan"] } }
      : { status: 404, body: { error: "not_found", message: "there is no such project" } },
});

const client = new Client(emulator.clientOptions);
const server = createMcpServer(client);
const library = z.object({ titles: z.array(z.string()) });

server.registerTool(
  "list_library",
  {
    description: "Returns the titles of the documents of a project.",
    inputSchema: z.strictObject({ project: z.string().describe("The name or the id of a project") }),
    outputSchema: library,
    annotations: { readOnlyHint: true, openWorldHint: true },
  },
  async ({ project }, { mcpReq }) => {
    try {
      const structuredContent = await client.request(
        { method: "GET", path: path`/projects/${project}/library`, schema: library },
        // The host may cancel, and gives up after a minute.
        { signal: mcpReq.signal, totalTimeoutMs: 50_000 },
      );
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    } catch (error) {
      // A message may hold what your own functions have thrown. The kind and the service's sentence never do.
      if (!isAutomationError(error)) throw new Error("the tool failed unexpectedly");
      const { kind, detail } = error;
      return { content: [{ type: "text", text: JSON.stringify({ kind, detail }) }], isError: true };
    }
  },
);

const [near, far] = InMemoryTransport.createLinkedPair();
await server.connect(far);
const host = new Host({ name: "example", version: "1.0.0" });
await host.connect(near);

const { tools } = await host.listTools();
console.log(`tools: ${tools.map(({ name }) => name).join(", ")}`);
for (const project of ["web", "wbe"]) {
  const { content } = await host.callTool({ name: "list_library", arguments: { project } });
  console.log(`${project}: ${content.map((part) => (part.type === "text" ? part.text : "")).join()}`);
}
await host.close();
