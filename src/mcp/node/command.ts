import { once } from "node:events";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { fileJournal } from "../../bulk/node.ts";
import { Client } from "../../client/client.ts";
import { Deadline } from "../../client/time/deadline.ts";
import { command, readService, SERVICE, say, type Terminal } from "../../command/command.ts";
import { IssueGuard } from "../issue-guard.ts";
import { createMcpServer, type McpServerOptions } from "../server.ts";
import type { ToolName } from "../tools.ts";

/** How long the end waits for the records of calls that it has aborted. */
const LAST_RECORDS_MS = 500;

/** `project-automation mcp`: the tools over standard input and output, until the input ends or the output is closed. */
export const MCP = command({
  name: "mcp",
  about: `Serves the operations of the client as tools of the Model Context Protocol, over standard input and output.
A host starts it; it ends with its input.
`,
  flags: {
    "read-only": { about: "leave out the tools that write" },
    tools: { value: "A,B", about: "serve these tools only" },
    ...SERVICE,
    journal: {
      value: "FILE",
      about: "remember created issues in FILE, so that a repeated call creates none after a restart",
    },
  },
  notes: `The token is read from PROJECT_AUTOMATION_TOKEN only: other users of a machine can read a command line.
With PROJECT_AUTOMATION_LOG=debug it says on standard error what it sends.
`,
  failure: 1,
  async run(flags, terminal) {
    const client = new Client({
      ...readService(flags, terminal),
      allowInsecureHttp: flags["allow-insecure-http"],
    });
    const journal = flags.journal === undefined ? undefined : await fileJournal(flags.journal);
    try {
      await serve(client, { readOnly: flags["read-only"], tools: namesOf(flags.tools), journal }, terminal);
      return 0;
    } finally {
      await journal?.close();
    }
  },
});

async function serve(client: Client, options: McpServerOptions, terminal: Terminal): Promise<void> {
  // A mistake in the flags, or a damaged journal, ends the command before a host connects.
  createMcpServer(client, options);
  const ended = Promise.race([
    once(process.stdin, "end"),
    once(process.stdin, "close"),
    once(process.stdout, "error"), // its reading end was closed
    once(terminal.signal, "abort"),
  ]);
  const issues = IssueGuard.of(client, options.journal);
  await issues?.loaded();
  const connection = serveStdio(() => createMcpServer(client, options), {
    onerror: (error) => say("mcp", terminal, error),
  });
  await ended;
  await connection.close();
  const deadline = Deadline.of(LAST_RECORDS_MS);
  await deadline.race(Promise.resolve(issues?.settled())).catch(() => {}); // a call without a record of its end counts as unknown
  deadline.release();
}

// The names are checked where the server is made.
function namesOf(flag: string | undefined): ToolName[] | undefined {
  return flag?.split(",").map((name) => name.trim()) as ToolName[] | undefined;
}
