import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { impliesScope, isScope, missingScopes, SCOPES } from "../../../src/client/index.ts";

const ACTIONS = ["read", "write", "admin"];
const resource = fc.stringMatching(/^[a-z_-]{1,8}$/);
const action = fc.constantFrom(...ACTIONS);

test("SCOPES is the table of the API documentation, frozen", () => {
  expect([...SCOPES].sort()).toEqual(
    [
      ...["configs:read", "library:read", "library:write", "sessions:read"],
      ...["projects", "issues", "enclaves"].flatMap((one) => ACTIONS.map((each) => `${one}:${each}`)),
    ].sort(),
  );
  expect(SCOPES).toHaveLength(13);
  expect(Object.isFrozen(SCOPES)).toBe(true);
});

describe("isScope", () => {
  test.each([...SCOPES])("%s is one", (scope) => {
    expect(isScope(scope)).toBe(true);
  });

  test.each(["sessions:write", "Projects:READ", "projects", "", "toString", undefined, [["issues:read"]]])(
    "%o is none",
    (value) => {
      expect(isScope(value)).toBe(false);
    },
  );
});

describe("admin includes write includes read, on the same resource only", () => {
  test.each(ACTIONS.flatMap((held, a) => ACTIONS.map((wanted, b) => [held, wanted, a >= b] as const)))(
    "%s held, %s wanted: %s",
    (held, wanted, implied) => {
      expect(impliesScope(`issues:${held}`, `issues:${wanted}`)).toBe(implied);
      expect(impliesScope(`issues:${held}`, `projects:${wanted}`)).toBe(false);
    },
  );

  test("for any resource, it is a total order of its actions", () => {
    fc.assert(
      fc.property(fc.tuple(resource, resource), fc.tuple(action, action, action), ([r, other], [a, b, c]) => {
        expect(impliesScope(`${r}:${a}`, `${r}:${a}`)).toBe(true);
        expect(impliesScope(`${r}:${a}`, `${r}:${b}`) || impliesScope(`${r}:${b}`, `${r}:${a}`)).toBe(true);
        if (impliesScope(`${r}:${a}`, `${r}:${b}`) && impliesScope(`${r}:${b}`, `${r}:${c}`)) {
          expect(impliesScope(`${r}:${a}`, `${r}:${c}`)).toBe(true);
        }
        expect(impliesScope(`${r}:${a}`, `${other}:${b}`)).toBe(
          r === other && ACTIONS.indexOf(a) >= ACTIONS.indexOf(b),
        );
      }),
    );
  });
});

const MALFORMED: readonly unknown[] = [
  ...["", ":", "projects", ":read", "projects:", "a:b:c", "projects:READ", "projects:delete", " projects:read"],
  ...["projects:read\n", "projects：read", "projects:__proto__", undefined, 5, ["projects:read"]],
];

describe("a malformed scope implies nothing, is implied by nothing, and never throws", () => {
  test.each(MALFORMED.map((scope) => [scope]))("%o", (scope) => {
    const bad = scope as string;
    for (const good of ["projects:admin", "projects:read"]) {
      expect(impliesScope(bad, good)).toBe(false);
      expect(impliesScope(good, bad)).toBe(false);
    }
    expect(impliesScope(bad, bad)).toBe(false);
    expect(missingScopes([...SCOPES, bad], [bad])).toEqual([bad]);
  });
});

describe("missingScopes", () => {
  test("returns the scopes that are not implied, in order, each once, for any iterable", () => {
    expect(
      missingScopes(["projects:admin"], ["projects:read", "issues:write", "projects:admin", "issues:write"]),
    ).toEqual(["issues:write"]);
    expect(missingScopes(new Set<string>(), new Set(["b:read", "a:read"]))).toEqual(["b:read", "a:read"]);
    expect(missingScopes([], [])).toEqual([]);
    expect(missingScopes([], SCOPES)).toEqual([...SCOPES]);
    expect(missingScopes(SCOPES, SCOPES)).toEqual([]);
  });

  test("scopes outside the table follow the same rule", () => {
    expect(missingScopes(["sessions:write"], ["sessions:read", "sessions:admin"])).toEqual(["sessions:admin"]);
  });
});
