import { McpServer, type Transport } from "@modelcontextprotocol/server";

/** What is added to the name `__proto__`, so that the argument is seen: a character that no message shows. */
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
  const { params } = message as { readonly params?: { arguments?: unknown } }; // any message can be asked
  const given = params?.arguments;
  if (typeof given !== "object" || given === null || !Object.hasOwn(given, "__proto__")) return;
  const renamed = Object.entries(given).map(([name, value]) => [name === "__proto__" ? name + UNSEEN : name, value]);
  Object.assign(params ?? {}, { arguments: Object.fromEntries(renamed) });
}
