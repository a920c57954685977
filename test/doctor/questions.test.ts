import { expect, test } from "vitest";
import { QUESTIONS } from "../../src/doctor/questions.ts";

test("the questions have ids of their own, and say what they are about", () => {
  const ids = QUESTIONS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, question, about, assumes } of QUESTIONS) {
    expect(id).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(question).toMatch(/\?$/);
    expect(about).toMatch(/API documentation|convention|client/);
    expect(assumes).not.toBe("");
  }
});
