import { expect, test } from "vitest";
import { issuesOf } from "../../../src/schemas/foreign-issues.ts";
import type { StandardIssue, StandardSchema } from "../../../src/schemas/standard-schema.ts";

const schema: StandardSchema = {
  "~standard": { version: 1, vendor: "foreign", validate: (value) => ({ value }) },
};
const messages = (issues: readonly StandardIssue[], received: unknown): string[] =>
  issuesOf(schema, issues, received).map(({ message }) => message);

test("strings of the response are taken out of messages", () => {
  expect(messages([{ message: 'not "pat_key_secret"' }], { plaintext: "pat_key_secret" })).toEqual(['not "[value]"']);
});

test("100 issues are listed, and the rest is counted", () => {
  const listed = messages(Array(5_000).fill({ message: "wrong" }), {});
  expect(listed).toHaveLength(101);
  expect(listed.at(-1)).toBe("4900 more issues are not listed");
});

test("a message that is too long to be searched is not shown", () => {
  expect(messages([{ message: "x".repeat(1_001) }, { message: "short" }], {})).toEqual(["not as expected", "short"]);
});

test("if a response has too many strings to search for, no message is shown", () => {
  const received = Array.from({ length: 50_000 }, (_, n) => `secret-${n}`);
  const issues = Array.from({ length: 100 }, () => ({ message: `${"x".repeat(50)} secret-1` }));
  expect(new Set(messages(issues, received))).toEqual(new Set(["not as expected"]));
});

test("long paths are shortened, and long keys are not shown", () => {
  const path = ["a".repeat(201), ...Array<string>(500).fill("b")];
  const [issue] = issuesOf(schema, [{ message: "wrong", path }], {});
  expect(issue?.path).toHaveLength(100);
  expect(issue?.path.slice(0, 2)).toEqual(["[key]", "b"]);
});
