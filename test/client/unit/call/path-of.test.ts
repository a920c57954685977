import fc from "fast-check";
import { expect, test } from "vitest";
import { ArgumentError } from "../../../../src/client/index.ts";
import { asErrorClass } from "../../../../src/core/errors/as-error-class.ts";
import { encodePath, path, pathOf } from "../../../../src/core/wire/path.ts";

test("the path of a template is sent as one made by the tag, and is shown with the names of its values", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (value) => {
      fc.pre(value.split(/[/\\]/).every((segment) => segment !== "" && segment !== "." && segment !== ".."));
      const made = pathOf("/projects/{project}/issues", { project: value });
      expect(encodePath(made)).toBe(encodePath(path`/projects/${value}/issues`));
      expect(made.template).toBe("/projects/{project}/issues");
    }),
  );
});

test("a path without values is its template", () => {
  const made = pathOf("/projects");
  expect([encodePath(made), made.template]).toEqual(["/projects", "/projects"]);
});

test.each(["", ".", "..", "\ud800", 7, null, undefined, {}])("%o is refused in the name of the value", (value) => {
  expect(() => asErrorClass(ArgumentError, () => pathOf("/sessions/{id}", { id: value }))).toThrow(/^id /);
});

test("a record in the place of its id is told so", () => {
  expect(() =>
    asErrorClass(ArgumentError, () => pathOf("/sessions/{id}", { id: { id: "ses_1", state: "on" } })),
  ).toThrow("id must be a string, not an object; pass its .id");
});
