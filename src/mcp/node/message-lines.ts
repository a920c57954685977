import { Transform } from "node:stream";
import { parseJSONRPCMessage } from "@modelcontextprotocol/server";
import { isRecord } from "../../core/checks/values.ts";
import { parseJson } from "../../core/wire/json.ts";

/** An error reply of the protocol. */
export interface Refusal {
  /** The id of the request; `undefined` if none can be read. */
  readonly id?: string | number | undefined;
  readonly error: { readonly code: number; readonly message: string };
}

const NOT_JSON: Refusal = { error: { code: -32_700, message: "Parse error: the line is not JSON" } };
const NO_MESSAGE = { code: -32_600, message: "Invalid Request: the line is no message of the protocol" };
const TOO_LONG: Refusal = { error: { code: -32_600, message: "Invalid Request: the line is longer than 10 MiB" } };

export class LineTooLong extends Error {}

const LINE_END = 0x0a;
const LONGEST_LINE = 10 * 2 ** 20;

/**
 * Passes input on as lines that are messages of the protocol, and hands the reply to any other line to `refuse`. A byte order
 * mark at the beginning of a line is no part of it. A line over 10 MiB ends the stream with {@link LineTooLong}.
 */
export function messageLines(refuse: (refusal: Refusal) => void): Transform {
  let parts: Buffer[] = [];
  let length = 0;
  const read = (bytes: Buffer): string => {
    const line = new TextDecoder().decode(bytes).trim(); // which leaves the mark out
    if (line === "") return "";
    const value = parseJson(line);
    const refusal = refusalOf(value);
    if (refusal === undefined) return `${JSON.stringify(value)}\n`; // as it was checked
    refuse(refusal);
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
      let end = chunk.indexOf(LINE_END);
      while (end >= 0 && length + end - begin <= LONGEST_LINE) {
        add(chunk.subarray(begin, end));
        this.push(read(take()));
        begin = end + 1;
        end = chunk.indexOf(LINE_END, begin);
      }
      add(chunk.subarray(begin));
      if (length <= LONGEST_LINE) return callback();
      refuse(TOO_LONG);
      callback(new LineTooLong("a line of standard input is longer than 10 MiB"));
    },
    flush(callback) {
      callback(null, read(take()));
    },
  });
}

function refusalOf(value: unknown): Refusal | undefined {
  if (value === undefined) return NOT_JSON;
  try {
    parseJSONRPCMessage(value);
    return undefined;
  } catch {
    const { id } = isRecord(value) ? value : {};
    const isId = typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id));
    return { id: isId ? id : undefined, error: NO_MESSAGE };
  }
}
