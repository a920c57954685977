import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { CycleDetector } from "../../../../src/core/paging/walk.ts";

test("a long walk keeps no memory, however long its cursors are", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void; // the flag puts it there
  const cycle = new CycleDetector();
  const add = (from: number, to: number): void => {
    for (let index = from; index < to; index += 1) cycle.closes(`${index}${"x".repeat(2_000)}`);
  };
  add(0, 1_000);
  collect();
  const before = process.memoryUsage().heapUsed;
  add(1_000, 100_000);
  collect();
  expect(cycle.closes("another")).toBe(false);
  expect((process.memoryUsage().heapUsed - before) / 100_000).toBeLessThan(5);
});
