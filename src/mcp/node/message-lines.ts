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
  let parts: Buffer[] = [];
  let length = 0;
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
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  const take = (): Buffer => {
    const line = Buffer.concat(parts);
    [parts, length] = [[], 0];
    return line;
  };
  return new Transform({
    transform(chunk: Buffer, _, callback) {
      let begin = 0;
      for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, begin)) {
        add(chunk.subarray(begin, end));
        this.push(read(take()));
        begin = end + 1;
      }
      add(chunk.subarray(begin));
      if (length > LONGEST_LINE) this.push(take());
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
