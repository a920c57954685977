import { expect, test } from "vitest";

const script = new URL("../../../scripts/prose.mjs", import.meta.url).href;
interface Prose {
  sentencesOf: (markdown: string) => string[];
  readabilityOf: (markdown: string) => { readonly figures: { readonly relativeWordsPercent: number } };
}
const { sentencesOf, readabilityOf }: Prose = await import(script);

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

test.each([
  ["Which fields does it have?", 0],
  ["It names the fields which it has.", 100 / 7],
])("the words of a question are no relative words: %s", (markdown, percent) => {
  expect(readabilityOf(markdown).figures.relativeWordsPercent).toBeCloseTo(percent);
});
