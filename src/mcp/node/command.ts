import { once } from "node:events";
import { pipeline } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { Client } from "../../client/client.ts";
import { command, parseConnection, SERVICE, say, type Terminal } from "../../command/command.ts";
import { createMcpServer, type McpServerOptions } from "../server.ts";
import type { ToolName } from "../tools.ts";
import { LineTooLong, messageLines } from "./message-lines.ts";

/** The status after a line that is too long. */
const TOO_LONG = 3;

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
  },
  notes: `The token is read from PROJECT_AUTOMATION_TOKEN only: other users of a machine can read a command line.
With PROJECT_AUTOMATION_LOG=debug it says on standard error what it sends.
`,
  failure: 1,
  async run(flags, terminal) {
    const client = new Client({
      ...parseConnection(flags, terminal),
      allowInsecureHttp: flags["allow-insecure-http"],
    });
    const options = { readOnly: flags["read-only"], tools: namesOf(flags.tools) };
    createMcpServer(client, options); // a mistake in the flags ends the command before a host connects
    return serve(client, options, terminal);
  },
});

/** Standard input and output, until either of them is closed, a line is too long, or the server closes it. */
class Connection extends StdioServerTransport {
  #end: () => void = () => {};
  readonly ended: Promise<void> = new Promise((resolve) => {
    this.#end = resolve;
  });

  override async close(): Promise<void> {
    await super.close();
    this.#end();
  }
}

async function serve(client: Client, options: McpServerOptions, terminal: Terminal): Promise<number> {
  const input = messageLines((refusal) => terminal.out(`${JSON.stringify({ jsonrpc: "2.0", ...refusal })}\n`));
  pipeline(process.stdin, input, () => {}); // its end is the end of the connection
  const transport = new Connection(input, process.stdout, { maxBufferSize: Infinity }); // the lines have their own limit
  const server = serveStdio(() => createMcpServer(client, options), {
    transport,
    onerror: (error) => say("mcp", terminal, error),
  });
  const { signal } = terminal;
  const done = new AbortController();
  // In order also when its terminal closes; the other commands leave SIGHUP to `nohup`.
  const hangUp = (): Promise<unknown> => once(process, "SIGHUP", { signal: done.signal });
  if (!signal.aborted) await Promise.race([transport.ended, once(signal, "abort"), hangUp()]);
  done.abort();
  await server.close();
  input.destroy(); // and with it standard input, which would keep the process alive
  return input.errored instanceof LineTooLong ? TOO_LONG : 0; // a terminal that closes is an error, too
}

// The names are checked where the server is made.
function namesOf(flag: string | undefined): ToolName[] | undefined {
  return flag?.split(",").map((name) => name.trim()) as ToolName[] | undefined;
}
