import { Transform } from "node:stream";
import { parseJSONRPCMessage } from "@modelcontextprotocol/server";
import { parseJson } from "../../core/wire/json.ts";

const LINE_END = 0x0a;
/** A longer line goes on as it is: the transport refuses it. */
const LONGEST_LINE = 10 * 2 ** 20;

/**
 * Passes input on as lines that are messages of the protocol. A byte order mark at the beginning of a line is no part of it.
 * A line that is no message is left out, and `onForeign` is called at the first.
 */
export function messageLines(onForeign: () => void): Transform {
  let rest: Buffer = Buffer.alloc(0);
  let hasTold = false;
  const read = (bytes: Buffer): string => {
    const line = new TextDecoder().decode(bytes).trim(); // which leaves the mark out
    if (isMessage(line)) return `${line}\n`;
    if (line !== "" && !hasTold) {
      hasTold = true;
      onForeign();
    }
    return "";
  };
  return new Transform({
    transform(chunk: Buffer, _, callback) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(LINE_END); end >= 0; end = rest.indexOf(LINE_END)) {
        this.push(read(rest.subarray(0, end)));
        rest = rest.subarray(end + 1);
      }
      if (rest.length > LONGEST_LINE) {
        this.push(rest);
        rest = Buffer.alloc(0);
      }
      callback();
    },
  });
}

function isMessage(line: string): boolean {
  try {
    parseJSONRPCMessage(parseJson(line));
    return true;
  } catch {
    return false;
  }
}
