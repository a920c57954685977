/** Standard input of `project-automation mcp`, as lines. */
import { expect, onTestFinished, test, vi } from "vitest";
import { messageLines } from "../../src/mcp/node/message-lines.ts";

test("each byte of a line is copied once, however many chunks it came in", () => {
  const copies = vi.spyOn(Buffer, "concat");
  onTestFinished(() => copies.mockRestore());
  const lines = messageLines(() => {});
  const chunk = Buffer.alloc(16 * 1_024, "x");
  for (let sent = 0; sent < 512; sent += 1) lines.write(chunk);
  lines.write("\n");
  expect(copies.mock.results.map(({ value }) => (value as Buffer).length)).toEqual([512 * chunk.length]);
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
