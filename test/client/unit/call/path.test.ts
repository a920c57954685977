import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArgumentError } from "../../../../src/client/index.ts";
import { encodePath, isPath, path } from "../../../../src/core/wire/path.ts";
import { anyCharacter } from "../../../support/characters.ts";

/** The segments of a value, as a proxy that decodes it has them. */
const segmentsOf = (value: string): string[] => value.split(/[/\\]/);

const values = fc
  .string({ unit: anyCharacter })
  .filter(
    (value) => !/\p{Surrogate}/u.test(value) && !segmentsOf(value).some((segment) => ["", ".", ".."].includes(segment)),
  );

test("any values can be decoded from their segments, and change no other segment", () => {
  fc.assert(
    fc.property(values, values, (a, b) => {
      const encoded = encodePath(path`/projects/${a}/issues/${b}`);
      const { pathname, search, hash, origin } = new URL(`https://example.com/api/v1${encoded}`);
      expect([search, hash, origin]).toEqual(["", "", "https://example.com"]);
      const segments = pathname.split("/").slice(3);
      expect(segments.map(decodeURIComponent)).toEqual(["projects", a, "issues", b]);
    }),
  );
});

test("a URL parser changes nothing about what is sent", () => {
  fc.assert(
    fc.property(values, (value) => {
      const encoded = encodePath(path`/a/${value}/b`);
      expect(new URL(encoded, "https://example.com").pathname).toBe(encoded);
    }),
  );
});

test("the template shows each value as {}", () => {
  expect(path`/projects`.template).toBe("/projects");
  expect(path`/projects/${"secret"}/issues/${"b"}`.template).toBe("/projects/{}/issues/{}");
  expect(path`/a-${"x"}${"y"}.z`.template).toBe("/a-{}{}.z");
  expect(encodePath(path`/a-${"x/w"}${"y"}.z`)).toBe("/a-x%2Fwy.z");
  expect(JSON.stringify(path`/projects/${"secret"}`)).not.toContain("secret");
});

describe("values that would address another endpoint", () => {
  test.each(["", ".", "..", "\ud800", "a\udfff", 5, null, undefined, {}, ["a"], Symbol("s"), new String("a")])(
    "%o",
    (value) => {
      expect(() => path`/x/${value as string}`).toThrow(ArgumentError);
    },
  );

  test.each([
    ["a dot made of two parts", () => path`/x/.${"."}`],
    ["an encoded dot in the static part", () => path`/x/%2e${"a"}/..`],
    ["a value between dots", () => path`/x/${"a"}/../y`],
  ])("%s", (_, make) => {
    expect(make).toThrow(ArgumentError);
  });
});

describe("values that would address another endpoint behind a proxy that decodes them", () => {
  test.each(["web/", "a\\..\\web", "a/./web", "a//b"])("%j", (value) => {
    const refusedOf = (make: () => unknown): string => {
      try {
        return String(make());
      } catch (error) {
        return error instanceof ArgumentError ? error.message : "another error";
      }
    };
    const words = "must not have an empty, . or .. segment, which addresses another endpoint";
    expect(refusedOf(() => path`/x/${value}`)).toBe(
      `value 1 of the path ${words}: such an id cannot pass common proxies`,
    );
  });

  test("a value that is empty, such as a variable of a shell that is not set, is called so", () => {
    expect(() => path`/x/${""}`).toThrow(/^value 1 of the path must not be empty$/);
  });

  test("a value has such a segment if and only if it would have one when it is decoded", () => {
    const parts = fc.constantFrom("", ".", "..", "...", "a", "%2e", "%2f", " ", ".a");
    const any = fc.array(fc.tuple(parts, fc.constantFrom("/", "\\", "")), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(any, (made) => {
        const value = made.flat().join("");
        const isBad = segmentsOf(value).some((segment) => /^\.{0,2}$/.test(segment));
        const make = (): unknown => path`/x/${value}/y`;
        if (isBad) expect(make).toThrow(ArgumentError);
        else expect(make).not.toThrow();
      }),
    );
  });
});

describe("static parts that would leave the base", () => {
  const bad: readonly (readonly [string, () => unknown])[] = [
    ["nothing", () => path``],
    ["no slash", () => path`projects`],
    ["a scheme", () => path`https://evil.example.com/x`],
    ["a host", () => path`//evil.example.com/x`],
    ["a double slash", () => path`/x//y`],
    ["a placeholder", () => path`/projects/{project}/issues`],
    ["dots", () => path`/x/../y`],
    ["dots at the end", () => path`/x/..`],
    ["half encoded dots", () => path`/x/.%2e/y`],
    ["a query", () => path`/x?a=1`],
    ["a fragment", () => path`/x#a`],
    ["white space", () => path`/x y`],
    [
      "a line break",
      () => path`/x
/y`,
    ],
    ["a backslash before a dot segment", () => path`/x\\..\\y`],
    ["a backslash that is an escape of the language", () => path`/projects\issues`],
    ["a value that begins the path", () => path`${"projects"}/x`],
  ];

  test.each(bad)("%s", (_, make) => {
    expect(make).toThrow(ArgumentError);
  });

  test("an invalid escape, whose segment would be lost", () => {
    const parts = Object.assign(["/projects/", undefined], { raw: ["/projects/", "\\users"] });
    expect(() => path(parts as never, "x")).toThrow(ArgumentError);
  });
});

test.each([["/x"], [["/x"]], [undefined], [null], [5], [{ raw: ["/x"] }]])(
  "path(%o), without a template, is an ArgumentError",
  (parts) => {
    expect(() => path(parts as never)).toThrow(ArgumentError);
  },
);

test.each([
  "/x",
  null,
  undefined,
  {},
  { template: "/x" },
  Object.create(Object.getPrototypeOf(path`/x`) as object) as object,
  new URL("https://a.b/c"),
])("%o is no path", (value) => {
  expect(isPath(value)).toBe(false);
});

test.each(["https://evil.example.com", "//evil.example.com", "/../x", "/x?y", "/x\\y", "/x y", 5, undefined])(
  "what leads elsewhere is no path, even with the mark of one: %o",
  (encoded) => {
    expect(isPath({ template: "/x", [Symbol.for("project-automation.path")]: encoded })).toBe(false);
  },
);

test("a path made by the tag is immutable, and prints its template alone", () => {
  const made = path`/projects/${"secret"}`;
  const change = { template: "/evil", encoded: "/evil", toString: () => "/evil" };
  expect(() => Object.assign(made, change)).toThrow(TypeError);
  expect(encodePath(made)).toBe("/projects/secret");
  expect([inspect(made, { showHidden: true }), JSON.stringify(made)].join("")).not.toContain("secret");
});
