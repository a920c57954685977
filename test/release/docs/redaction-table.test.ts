/** The table of docs/reference/redaction.md: how much of a token is hidden, by its form. */
import { describe, expect, test } from "vitest";
import { Redactor } from "../../../src/core/secrets/redact.ts";
import { boundRows, tableOf } from "./tables.ts";

describe("docs/reference/redaction.md, a part of a token", () => {
  const { rows } = tableOf("docs/reference/redaction.md", "token", "hidden from");
  /** The fewest characters of the beginning of a secret that are hidden. */
  const fewestOf = (token: string, secret: string): number => {
    const redactor = new Redactor({ tokens: [token] });
    const lengths = Array.from({ length: secret.length }, (_, index) => index + 1);
    return lengths.find((length) => redactor.text(secret.slice(0, length)) !== secret.slice(0, length)) ?? 0;
  };
  const SECRET = "x7f3k9q2m5w8z1v6";
  const cases = {
    "`PREFIX_KEY_SECRET`": () => {
      expect(fewestOf(`pat_public_${SECRET}`, SECRET)).toBe(8);
      expect(new Redactor({ tokens: [`pat_public_${SECRET}`] }).text("pat_public")).toBe("pat_public");
      return "eight characters of `SECRET` on; prefix and key id are public";
    },
    "any other": () => {
      expect(fewestOf(SECRET, SECRET)).toBe(12);
      return "twelve characters on";
    },
  };
  test.each(boundRows(rows, cases))("$first", ({ cells, run }) => expect([run()]).toEqual(cells));
});
