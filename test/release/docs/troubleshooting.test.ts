/** The messages of docs/troubleshooting.md are those of the code, or of the tests that assert them word by word. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const code = globSync(["src/{client,core,service,opentelemetry}/**/*.ts", "test/client/**/*.ts"], { cwd: root })
  .map(read)
  .join("\n");
const messages = [...read("docs/troubleshooting.md").matchAll(/^\| `(.*?)` \| /gm)].map(([, first = ""]) => first);

/** The words of a message between its values. */
function fixedParts(message: string): string[] {
  return message.split(/…|\d+|[{(][^a-z]*[)}]|"/).flatMap((part) => {
    const words = part.replace(/^[\s(){}]+|[\s(){}]+$/g, "");
    return words.length > 3 ? words : [];
  });
}

test("the page has messages", () => {
  expect(messages.length).toBeGreaterThan(20);
});

test.each(messages)("%s", (message) => {
  const parts = fixedParts(message);
  expect(parts).not.toEqual([]);
  for (const part of parts) expect(code).toContain(part);
});
