/**
 * Drives the tools for agents without any model: it starts `project-automation mcp` as a host does, lists the tools, creates
 * an issue, repeats the call as a model might, and waits for a session.
 *
 * Run it: node examples/tools-for-agents.ts
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { startEmulator } from "project-automation/testing/node";

// An emulator of the service, with the session `ses_1` that goes `queued`, `running`, `done`.
const service = await startEmulator();

// What a host's configuration says with `npx -y project-automation mcp`.
const root = dirname(createRequire(import.meta.url).resolve("project-automation/package.json"));
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [join(root, "dist/bin.js"), "mcp"],
  env: { PROJECT_AUTOMATION_BASE_URL: service.baseUrl, PROJECT_AUTOMATION_TOKEN: service.token },
});
const host = new Client({ name: "example", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await host.connect(transport);

const { tools } = await host.listTools();
console.log(`tools: ${tools.map(({ name }) => name).join(", ")}`);

await call("list_projects", {});
const issue = { project: "web", title: "Login page is blank", type: "bug" };
await call("create_issue", issue);
await call("create_issue", issue); // a model repeats itself: nothing is sent
await call("create_issue", { ...issue, project: "wbe" }); // a failure says what to do
await call("wait_for_session", { id: "ses_1", until: ["done", "failed"] });

await host.close();
await service.close();

async function call(name: string, input: Record<string, unknown>): Promise<void> {
  const { isError, structuredContent, content } = await host.callTool(
    { name, arguments: input },
    { onprogress: ({ message }) => console.log(`  … ${message}`) },
  );
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  console.log(`${name}: ${isError ? `error: ${text}` : JSON.stringify(structuredContent)}`);
}
