import fc from "fast-check";
import { expect, expectTypeOf, test } from "vitest";
import { ArgumentError } from "../../../src/index.ts";
import { encodePath, namedPath, path } from "../../../src/request/path.ts";

test("a named path is sent as one made by the tag, and is shown as its template", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (value) => {
      fc.pre(value !== "." && value !== "..");
      const named = namedPath("issues.create", "/projects/{project}/issues", { project: value });
      expect(encodePath(named)).toBe(encodePath(path`/projects/${value}/issues`));
      expect(named.template).toBe("/projects/{project}/issues");
    }),
  );
});

test("a path without values is its template", () => {
  expect(encodePath(namedPath("projects.list", "/projects", {}))).toBe("/projects");
});

test("a value is not interpreted as a template or a replacement pattern", () => {
  expect(encodePath(namedPath("x", "/a/{a}/{b}", { a: "{b}", b: "$&" }))).toBe("/a/%7Bb%7D/%24%26");
});

test.each(["", ".", "..", "\ud800", 7, null, undefined])(
  "%o is refused, by the operation and the name of the value",
  (value) => {
    const make = (): unknown => namedPath("sessions.get", "/sessions/{id}", { id: value as never });
    expect(make).toThrow(ArgumentError);
    expect(make).toThrow(/^sessions\.get: id /);
  },
);

test("the values are those of the template's names", () => {
  expectTypeOf(namedPath<"/a/{x}/b/{y}">)
    .parameter(2)
    .toEqualTypeOf<Readonly<Record<"x" | "y", string>>>();
});
