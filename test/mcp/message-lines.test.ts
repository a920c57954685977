/** Standard input of `project-automation mcp`, as lines. */
import { expect, test } from "vitest";
import { messageLines } from "../../src/mcp/node/message-lines.ts";
import { processorMs } from "../support/processor-time.ts";

const CHUNK = Buffer.alloc(16 * 1_024, "x");

test("a line eight times as long costs about eight times as much", () => {
  const costOf = (chunks: number): number =>
    Math.min(
      ...Array.from({ length: 3 }, () => {
        const lines = messageLines(() => {});
        return processorMs(() => {
          for (let sent = 0; sent < chunks; sent += 1) lines.write(CHUNK);
          lines.write("\n");
        });
      }),
    );
  costOf(64);
  const [short, long] = [costOf(64), costOf(512)];
  expect(long / short).toBeLessThan(24);
});

test("lines are whole wherever the input is cut", () => {
  const messages = [1, 2].map((id) => JSON.stringify({ jsonrpc: "2.0", id, method: "é" }));
  const input = Buffer.from(`${messages.join("\r\n\n")}\nrest`);
  for (const size of [1, 2, 7, input.length]) {
    const lines = messageLines(() => expect.fail("it is a message"));
    for (let at = 0; at < input.length; at += size) lines.write(input.subarray(at, at + size));
    expect(String(lines.read())).toBe(`${messages.join("\n")}\n`);
  }
});
