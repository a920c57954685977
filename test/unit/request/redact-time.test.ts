/** What a refusal costs to clean is in proportion to its length: 64 KiB of anything take milliseconds, not seconds. */
import { describe, expect, test } from "vitest";
import { REDACTED, Redactor } from "../../../src/request/redact.ts";

const TOKEN = "pat_public_verySecretPart";
const LENGTH = 64 * 1024;
/** Many times what any of them takes; a scan that is quadratic takes ten seconds and more. */
const LIMIT_MS = 2_000;

const FILLS = [
  ".",
  " ",
  "'",
  '"',
  "…",
  '"" ',
  '":',
  '" : "',
  "pat_",
  " pat_",
  "pat_public_",
  "-pat_-",
  "\u0000",
  "  \n",
];

describe.each(FILLS)("a text that is full of %j", (fill) => {
  const run = fill.repeat(Math.ceil(LENGTH / fill.length)).slice(0, LENGTH - 1);

  test.each(["x", ""])(
    "and ends with %j",
    (end) => {
      const cleaner = new Redactor([TOKEN]);
      expect(cleaner.prose(`${TOKEN}${run}${end}`).includes(TOKEN)).toBe(false);
      expect(cleaner.line(`${run}${end}`, 300).length).toBeLessThanOrEqual(300);
    },
    LIMIT_MS,
  );
});

test("the beginning of a secret before very many marks is taken out", () => {
  const marks = ".".repeat(LENGTH);
  expect(new Redactor([TOKEN]).text(`${TOKEN.slice(0, 20)}${marks}`) === `${REDACTED}${marks}`).toBe(true);
});
