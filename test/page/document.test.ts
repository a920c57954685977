import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { documentModule } from "../../build/page.ts";
import { DOCUMENT } from "../../src/page/document.ts";

test("the page is written from its sources (npm run docs)", async () => {
  const file = new URL("../../src/page/document.ts", import.meta.url);
  expect((await documentModule()) === readFileSync(file, "utf8")).toBe(true);
});

test("the page is small, needs nothing else, and turns no text into markup", () => {
  expect(Buffer.byteLength(DOCUMENT)).toBeLessThanOrEqual(30_000);
  expect(DOCUMENT.replace("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:\/\/|@import|\burl\(|src=/);
  expect(DOCUMENT).not.toMatch(
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function/,
  );
  expect(DOCUMENT.replace(/<script>.*<\/script>/s, "")).not.toMatch(/ on[a-z]+=| style=/);
  expect(DOCUMENT.match(/<script/g)).toHaveLength(1);
});
