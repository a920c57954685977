/** Work that calls share, also where the platform says that it has dropped it (workerd rejects what is awaited then). */
import { expect, test } from "vitest";
import { SharedWork } from "../../../../src/core/token/shared-work.ts";
import { TokenUnavailable } from "../../../../src/core/token/token-source.ts";

test.each<[string, () => Promise<string>, unknown, boolean]>([
  ["its result", () => Promise.resolve("t"), "t", true],
  ["its failure", () => Promise.reject(new TokenUnavailable("no")), "Error: no", true],
  ["undefined for what was dropped, and gives it up", () => Promise.reject(new Error("dropped")), undefined, false],
])("wait() has %s", async (...[, work, expected, isCurrent]) => {
  const shared = new SharedWork(work(), 1_000);
  expect(await shared.wait().catch(String)).toBe(expected);
  expect(shared.isCurrent).toBe(isCurrent);
});
