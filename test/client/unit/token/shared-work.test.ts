/** Work that calls share, also where the platform says that it has dropped it (workerd rejects what is awaited then). */
import { expect, test } from "vitest";
import { SharedWork } from "../../../../src/core/token/shared-work.ts";
import { TokenUnavailable } from "../../../../src/core/token/token-source.ts";

test.each<[string, () => Promise<void>, unknown, boolean]>([
  ["ends with the work", () => Promise.resolve(), undefined, true],
  ["rejects with its failure", () => Promise.reject(new TokenUnavailable("no")), "Error: no", true],
  ["gives up what was dropped", () => Promise.reject(new Error("dropped")), undefined, false],
])("wait() %s", async (...[, work, expected, isCurrent]) => {
  const shared = new SharedWork(work(), 1_000);
  expect(await shared.wait().catch(String)).toBe(expected);
  expect(shared.isCurrent).toBe(isCurrent);
});
