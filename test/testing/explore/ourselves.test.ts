import { expect, test, vi } from "vitest";
import { shareOf } from "../../support/all-tests.ts";
import { exploreOurselves, ourselves } from "./ourselves.ts";

test.each(Object.entries(ourselves(3)))("two faults in a run find nothing in %s", async (_, explored) => {
  const complaints = vi.spyOn(console, "error").mockReturnValue(); // the tools tell each failure
  const report = await exploreOurselves(explored, shareOf(80));
  complaints.mockRestore();
  expect(report.findings.map(({ message }) => message)).toEqual([]);
  expect(report.requests).toBe(explored.requests);
  expect(report.right).toBeGreaterThan(0);
});
