import { expect, test } from "vitest";

const script = new URL("../../../scripts/prose.mjs", import.meta.url).href;
const { sentencesOf }: { sentencesOf: (markdown: string) => string[] } = await import(script);

test.each<[string, string, string[]]>([
  ["a paragraph", "You call `list`. It yields\nall issues.", ["You call code.", "It yields all issues."]],
  [
    "cells of a table",
    "| a | b |\n|---|---|\n| It waits once. | It fails \\| stops now |",
    ["It waits once.", "It fails \\| stops now"],
  ],
  ["the head of a table", "| the head of it | a second head |\n|---|--:|\n| `a` | 1 |", []],
  ["a cell of code", "| a | b |\n|---|---|\n| `x`, `y`, `z` | `list` |", []],
  ["headings, images, code", "# A long heading here\n![a picture of it](a.svg)\n```sh\nnpm run the checks\n```", []],
])("the prose checker reads %s", (_, markdown, sentences) => {
  expect(sentencesOf(markdown)).toEqual(sentences);
});
