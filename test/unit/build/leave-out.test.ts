import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { LEFT_OUT } from "../../../config/bundled.ts";
import { type Given, leaveOut } from "../../../config/leave-out.ts";

const CODE = `
export function add(a, b) { if (a === 0) { return b; } else if (b === 0) { return a; } return a + b; }
export function sum(options, ...numbers) {
  let all = options.start ?? 0;
  for (const one of numbers) { all = add(all, one); }
  for (const key in options) { all += options[key].length; }
  return all;
}
export const counter = { n: 1, get twice() { return 2 * this.n; }, up() { this.n += 1; return this.n; }, down() { this.n -= 1; } };
export class Ping {
  #left = 3;
  unused = "#never";
  static #made = 0;
  ping() { return this.#pong(); }
  #pong() { this.#left -= 1; return this.#left > 0 ? this.ping() : "done"; }
  #never() { return this.#neverEither(); }
  #neverEither() { return this.#never() + this.#made; }
}`;

type Exports = {
  add: (a: unknown, b: unknown) => unknown;
  sum: (options: { start?: number }, ...numbers: readonly number[]) => unknown;
  counter: { n: number; readonly twice?: number; up?: () => number; down?: () => void };
  Ping: new () => { ping: () => string };
};

async function run(given: Given): Promise<Exports> {
  const code = leaveOut(CODE, "code.js", given);
  return (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`)) as Exports;
}

test("an expression is another one wherever it stands, and everything else is as it was", async () => {
  const { sum, add } = await run({ "options.start ?? 0": "5" });
  expect(sum({}, 1, 2)).toBe(8);
  expect(add(0, 2)).toBe(2);
  expect((await run({ "a === 0": "false", "b === 0": "true" })).add(0, 2)).toBe(0);
});

test("an expression may go by its beginning, and the longest that begins so is meant", async () => {
  expect((await run({ "options.start…": "7" })).sum({}, 1)).toBe(8);
});

test("what an `if` is about is left out, and its `else` stays", async () => {
  const { add } = await run({ "if (a === 0)": "" });
  expect([add("0", 2), add(3, 0)]).toEqual(["02", 3]);
  expect((await run({ "if (a === 0)": "", "if (b === 0)": "" })).add("3", 0)).toBe("30");
});

test("loops are left out", async () => {
  expect((await run({ "for (const one of numbers)": "" })).sum({}, 1, 2)).toBe(0);
  expect((await run({ "for (const key in options)": "" })).sum({ start: 1 }, 1)).toBe(2);
});

test("methods and accessors of objects are left out", async () => {
  const { counter } = await run({ "get twice()": "", "up()": "", "down()": "" });
  expect(Object.keys(counter)).toEqual(["n"]);
});

test("private members that nothing public leads to are left out, and all others stay", async () => {
  expect(leaveOut(CODE, "code.js", {})).not.toMatch(/#never(?!")|#made/);
  const { Ping } = await run({});
  expect(new Ping().ping()).toBe("done");
});

test.each(["gone", "if (a)", "if (a !== 0)", "for (const two of numbers)", "nothing…"])(
  "%s, which is not there, is an error",
  (name) => {
    expect(() => leaveOut(CODE, "code.js", { [name]: "" })).toThrow(`code.js has no longer "${name}"`);
  },
);

test.each(Object.entries(LEFT_OUT))("what is left out of %s is there", (file, given) => {
  const code = readFileSync(resolve(import.meta.dirname, "../../../node_modules", file), "utf8");
  expect(leaveOut(code, file, given).length).toBeLessThan(code.length);
});
