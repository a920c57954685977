import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ArgumentError } from "../../../../src/client/index.ts";
import { encodePath, isPath, path } from "../../../../src/core/wire/path.ts";
import { anyCharacter } from "../../../support/characters.ts";

const values = fc
  .string({ unit: anyCharacter })
  .filter((value) => !/\p{Surrogate}/u.test(value) && !["", ".", ".."].includes(value));

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
  expect(encodePath(path`/a-${"x/"}${"y"}.z`)).toBe("/a-x%2Fy.z");
  expect(JSON.stringify(path`/projects/${"secret"}`)).not.toContain("secret");
});

describe("values that would address another endpoint", () => {
  test.each([
    "",
    ".",
    "..",
    "\ud800",
    "a\udfff",
    5,
    null,
    undefined,
    true,
    {},
    [],
    ["a"],
    Symbol("s"),
    new String("a"),
  ])("%o", (value) => {
    expect(() => path`/x/${value as string}`).toThrow(ArgumentError);
  });

  test.each([
    ["a dot made of two parts", () => path`/x/.${"."}`],
    ["an encoded dot in the static part", () => path`/x/%2e${"a"}/..`],
    ["a value between dots", () => path`/x/${"a"}/../y`],
  ])("%s", (_, make) => {
    expect(make).toThrow(ArgumentError);
  });
});

describe("static parts that would leave the base", () => {
  const bad: readonly (readonly [string, () => unknown])[] = [
    ["nothing", () => path``],
    ["no slash", () => path`projects`],
    ["a scheme", () => path`https://evil.example.com/x`],
    ["a host", () => path`//evil.example.com/x`],
    ["a double slash", () => path`/x//y`],
    ["a trailing double slash", () => path`/x//`],
    ["dots", () => path`/x/../y`],
    ["a dot", () => path`/x/./y`],
    ["dots at the end", () => path`/x/..`],
    ["encoded dots", () => path`/x/%2e%2E/y`],
    ["half encoded dots", () => path`/x/.%2e/y`],
    ["a query", () => path`/x?a=1`],
    ["a fragment", () => path`/x#a`],
    ["white space", () => path`/x y`],
    [
      "a line break",
      () => path`/x
/y`,
    ],
    ["a tab", () => path`/x/\t../y`],
    ["an escaped backslash", () => path`/x\\y`],
    ["a backslash before a dot segment", () => path`/x\\..\\y`],
    ["a backslash that is an escape of the language", () => path`/projects\issues`],
    ["a backslash before a value", () => path`/projects\i${"x"}`],
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

test("a path of another copy of the package is one", async () => {
  vi.resetModules();
  onTestFinished(() => void vi.resetModules()); // other files of this process load it where nothing is replaced
  const copy = await import("../../../../src/core/wire/path.ts");
  expect(copy.path).not.toBe(path);
  const theirs = copy.path`/projects/${"a/b"}`;
  expect(isPath(theirs)).toBe(true);
  expect(encodePath(theirs)).toBe("/projects/a%2Fb");
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
