/** What a test passes wrongly to the emulator is told in the line that passed it. */
import { createEmulator, resolveConventions } from "project-automation/testing";
import { expect, test } from "vitest";

const emulator = createEmulator();
const wrong = { ratelimit: 5 } as object;

test.each<[string, () => unknown]>([
  ["createEmulator", () => createEmulator(wrong)],
  ["createEmulator with conventions", () => createEmulator({ conventions: wrong })],
  ["resolveConventions", () => resolveConventions(wrong)],
  ["fault", () => emulator.fault(wrong)],
  ["route", () => emulator.route(wrong as never)], // the point of it
  ["createToken", () => emulator.createToken({ scopes: 7 } as never)], // the point of it
])("%s: a TypeError whose stack begins in the caller's line", (_, call) => {
  try {
    call();
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    const { name, stack = "" } = error as Error; // as said above
    expect(name).toBe("TypeError");
    expect(stack.split("\n").find((line) => /^\s+at /.test(line))).toContain("misuse.test.ts");
  }
});
