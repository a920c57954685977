import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import * as library from "../../../../src/client/index.ts";
import { hasCode, isDate, isError } from "../../../../src/core/checks/values.ts";
import { explain } from "../../../../src/core/errors/explanation.ts";
import { Redactor } from "../../../../src/core/secrets/redact.ts";
import { TokenUnavailable } from "../../../../src/core/token/token-source.ts";
import { writeJson } from "../../../../src/core/wire/json.ts";

type Class = (abstract new (...parameters: never[]) => object) & { readonly prototype: object };

const CLASSES = Object.entries(library)
  .filter(([name, value]) => name.endsWith("Error") && typeof value === "function")
  .map(([name, value]) => [name, value as Class] as const);

describe("a class that was compiled to a function", () => {
  test.each([...CLASSES, ["TokenUnavailable", TokenUnavailable] as const])(
    "%s finds its own object before it has fields",
    (_, Class) => {
      expect(CLASSES.length).toBeGreaterThan(15);
      expect(Object.create(Class.prototype) instanceof Class).toBe(true);
      expect(Object.create(Error.prototype) instanceof Class).toBe(false);
    },
  );

  test("does not find an unfinished object of another class", () => {
    expect(Object.create(library.NotFoundError.prototype) instanceof library.ConflictError).toBe(false);
    expect(Object.create(library.NotFoundError.prototype) instanceof library.ApiError).toBe(true);
  });

  test("as its compilers write it, makes an error of an application's own subclass", () => {
    // By Babel and SWC: the question first, then the constructor of the parent for a class of this name.
    function Missing(this: unknown, message: string): object {
      if (!(this instanceof Missing)) throw new TypeError("Cannot call a class as a function");
      return Reflect.construct(library.NotFoundError, [message], Missing) as object;
    }
    Object.setPrototypeOf(Missing, library.NotFoundError);
    Missing.prototype = Object.create(library.NotFoundError.prototype, { constructor: { value: Missing } }) as object;
    const error: unknown = Reflect.construct(Missing, ["gone"]);
    expect(error).toBeInstanceOf(Missing);
    expect(error).toMatchObject({ kind: "not_found", message: "gone" });
    expect(new library.NotFoundError("other")).not.toBeInstanceOf(Missing);
  });
});

describe("of another realm", () => {
  const foreign = (code: string): unknown => runInNewContext(code);

  test("an error is read as one of this realm is", () => {
    const thrown = foreign(`Object.assign(new TypeError("fetch failed", { cause: new AggregateError([
      Object.assign(new Error("connect ECONNREFUSED ::1:80"), { code: "ECONNREFUSED" }),
    ]) }), {})`);
    expect(thrown instanceof Error).toBe(false);
    expect(isError(thrown)).toBe(true);
    expect(explain(thrown)).toMatchObject({ platformCode: "ECONNREFUSED", why: "connect ECONNREFUSED ::1:80" });
    const copy = new Redactor({ tokens: ["pat_k1_verySecretPart01"] }).cause(
      foreign('new RangeError("no pat_k1_verySecretPart01")'),
    );
    expect(copy).toBeInstanceOf(RangeError);
    expect((copy as Error).message).toBe("no [redacted]");
    const failure = new library.ConnectionError("lost", { cause: thrown });
    expect(failure.toJSON()["cause"]).toEqual({ name: "TypeError", message: "fetch failed" });
  });

  test("a code is found, and nothing is found in a value that is no error", () => {
    expect(hasCode(foreign('Object.assign(new Error(""), { code: "ESRCH" })'), "EPERM", "ESRCH")).toBe(true);
    for (const other of [undefined, null, "ESRCH", {}]) expect(hasCode(other, "ESRCH")).toBe(false);
    for (const other of [undefined, "Error", {}, { name: "Error", message: "" }]) expect(isError(other)).toBe(false);
    expect(isDate(foreign("new Date()"))).toBe(true);
    expect(isDate(Date.now())).toBe(false);
  });

  test("an invalid date is refused in place of being sent as null", () => {
    expect(() => writeJson({ at: foreign("new Date(NaN)") }, "json")).toThrow("at");
    expect(writeJson({ at: foreign("new Date(0)") }, "json")).toContain("1970-01-01");
  });
});
