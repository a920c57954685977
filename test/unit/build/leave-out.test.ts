import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { LEFT_OUT } from "../../../config/bundled.ts";
import { leaveOut } from "../../../config/leave-out.ts";

const CODE = `
export function add(a, b) { if (a === 0) { return b; } const sum = a + b; return sum; }
export const twice = (a) => { return add(a, a); };
export class Counter {
  #n = 0;
  constructor(n) { this.#n = n; }
  get n() { return this.#n; }
  #up() { this.#n += 1; }
  up(times) { for (const _ of times) { this.#up(); } return this.n; }
}`;

type Exports = {
  add: (a: number, b: number) => number;
  twice: (a: number) => number;
  Counter: new (n: number) => { readonly n: number; up: (times: readonly number[]) => number };
};

async function run(blocks: Readonly<Record<string, number>>): Promise<Exports> {
  const code = leaveOut(CODE, "code.js", blocks);
  return (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`)) as Exports;
}

test("a block throws in its place, and everything else is as it was", async () => {
  const { add, twice } = await run({ twice: 0 });
  expect(add(1, 2)).toBe(3);
  expect(() => twice(1)).toThrow("left out");
});

test("first statements stay", async () => {
  const { add } = await run({ add: 1 });
  expect(add(0, 2)).toBe(2);
  expect(() => add(1, 2)).toThrow("left out");
});

test.each(["Counter.constructor", "get n", "#up", "up", "for (const _ of times)", "for (const _…"])(
  "%s is a block",
  async (name) => {
    const { Counter } = await run({ [name]: 0 });
    expect(() => new Counter(1).up([1]) + new Counter(1).n).toThrow("left out");
  },
);

test.each(["gone", "if (a", "if (a !== 0)", "nothing…"])("%s, which is not there, is an error", (name) => {
  expect(() => leaveOut(CODE, "code.js", { [name]: 0 })).toThrow(name);
});

test("so is a name that two blocks go by, or one with no more statements than are to stay", () => {
  expect(() => leaveOut(`${CODE} function add() { return 1; }`, "code.js", { add: 0 })).toThrow("add");
  expect(() => leaveOut(CODE, "code.js", { twice: 1 })).toThrow("twice");
});

test.each(Object.entries(LEFT_OUT))("what is left out of %s is there", (file, blocks) => {
  const code = readFileSync(resolve(import.meta.dirname, "../../../node_modules", file), "utf8");
  expect(leaveOut(code, file, blocks).match(/left out of the bundle/g)).toHaveLength(Object.keys(blocks).length);
});
