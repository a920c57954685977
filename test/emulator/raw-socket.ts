import type { Socket } from "node:net";
import { connect } from "node:net";

/** A TCP connection to a server, byte for byte. */
export interface RawSocket {
  readonly socket: Socket;
  readonly write: (bytes: string | Uint8Array) => void;
  /** All that has come, once the connection has ended in whatever way. */
  readonly ended: Promise<string>;
  /** Resolves once `pattern` has come. */
  readonly received: (pattern: RegExp) => Promise<string>;
}

/** Connects to the host and port of a base URL. */
export async function openSocket(baseUrl: string): Promise<RawSocket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""));
  let text = "";
  let woken = (): void => undefined;
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    woken();
  });
  // A server may end a connection by a reset; what counts is what it said before.
  socket.on("error", () => undefined);
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    ended,
    received: async (pattern) => {
      while (!pattern.test(text)) {
        await new Promise<void>((resolve) => {
          woken = resolve;
        });
      }
      return text;
    },
  };
}

/** One response, taken apart. Its body must be JSON. */
export function parseResponse(text: string): { status: number; headers: Map<string, string>; body: unknown } {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  const [line = "", ...lines] = head.split("\r\n");
  const headers = new Map(
    lines.map((field) => [field.split(": ", 1)[0]?.toLowerCase() ?? "", field.replace(/^[^:]*: /, "")]),
  );
  return { status: Number(line.split(" ")[1]), headers, body: JSON.parse(body) };
}
