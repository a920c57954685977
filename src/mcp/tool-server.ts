import { McpServer, type Transport } from "@modelcontextprotocol/server";
import { isRecord } from "../core/checks/values.ts";

/** A character that no message shows. Behind the name `__proto__` it lets the argument through to the tool. */
const UNSEEN = "\u200b";

/** A server that sees all arguments of a call: the protocol's own schemas drop one that is named `__proto__`. */
export class ToolServer extends McpServer {
  override connect(transport: Transport): Promise<void> {
    const before = transport.onmessage;
    // The server calls a listener that is there before its own.
    transport.onmessage = (message, extra) => {
      before?.(message, extra);
      renamePrototype(message);
    };
    return super.connect(transport);
  }
}

function renamePrototype(message: unknown): void {
  const params = isRecord(message) ? message["params"] : undefined;
  const given = isRecord(params) ? params["arguments"] : undefined;
  if (!isRecord(params) || !isRecord(given) || !Object.hasOwn(given, "__proto__")) return;
  const renamed = Object.entries(given).map(([name, value]) => [name === "__proto__" ? name + UNSEEN : name, value]);
  params["arguments"] = Object.fromEntries(renamed) as unknown; // `entries` has lost the type of the values
}
