/** Whose word a status is, by the body alone. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRefusalOfService, isSuccessOfService } from "../../../../src/core/call/from-service.ts";

/** White space and byte order marks, which count for nothing. */
const BLANKS = ["", " ", "\n\t\r ", "\ufeff", "\ufeff \n", " \ufeff"];

const PAGES = [
  "<!doctype html><title>Sign in</title>",
  "<?xml version='1.0'?><error/>",
  "OK",
  "undefined",
  "NaN",
  "Bad Gateway {",
  "404 [not found]",
  "nullify",
  "42 of 50",
  "'text'",
  ")]}',\n{}",
  "data: {}\n\n",
  "\0{}",
];

const success = (text: string, { isWhole, isDue }: { readonly isWhole: boolean; readonly isDue: boolean }) =>
  isSuccessOfService({ text, isWhole }, isDue);

describe.each([true, false])("a 2xx, a body is due: %s", (isDue) => {
  test("that begins as JSON is the service's, whole or cut, behind white space and a byte order mark", () => {
    for (const start of ["{", "[", '{"id":1}', "[1,2", "{]", '{"a":1}{"a":2}', '[{"error":"x"}]', "{ not json"]) {
      for (const blank of BLANKS) {
        for (const isWhole of [true, false]) expect(success(blank + start, { isWhole, isDue })).toBe(true);
      }
    }
  });

  test.each(["null", "42", "-1.5e3", '"text"', "true", "false"])("that is the JSON value %s, whole", (value) => {
    for (const blank of BLANKS) {
      expect(success(`${blank}${value}${blank}`, { isWhole: true, isDue })).toBe(true);
      expect(success(`${blank}${value}`, { isWhole: false, isDue })).toBe(false);
    }
  });

  test.each(PAGES)("that is %j is not the service's", (page) => {
    for (const blank of BLANKS) {
      for (const isWhole of [true, false]) expect(success(blank + page, { isWhole, isDue })).toBe(false);
    }
  });

  test("that has not begun, or is empty", () => {
    for (const blank of BLANKS) {
      expect(success(blank, { isWhole: false, isDue })).toBe(isDue ? undefined : true);
      expect(success(blank, { isWhole: true, isDue })).toBe(!isDue);
    }
  });

  test("what is known of a body changes no more, but for a value that it is the whole of", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, rest) => {
        const known = success(text, { isWhole: false, isDue });
        if (text.trim() === "" || known !== true) return;
        for (const isWhole of [true, false]) expect(success(text + rest, { isWhole, isDue })).toBe(true);
      }),
    );
  });

  test("every JSON value is the service's", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(success(text, { isWhole: true, isDue })).toBe(true);
      }),
    );
  });
});

test.each([
  [{ error: "invalid_request" }, true],
  [{ error: "" }, true],
  [{ error: { message: "no" } }, true],
  [{ error: "x", message: "y" }, true],
  [{ error: null }, false],
  [{ message: "no" }, false],
  [{ errors: ["no"] }, false],
  [{}, false],
  [["error"], false],
  ["<html>", false],
  ["error", false],
  [null, false],
  [undefined, false],
  [42, false],
])("a refusal with %j is the service's: %s", (body, isOfService) => {
  expect(isRefusalOfService(body)).toBe(isOfService);
});
