import { invalid } from "./invalid-input.ts";

/** The first and the longest of waits that grow, in milliseconds, as far as they are given. */
export type GivenRange = readonly [first: number | undefined, longest: number | undefined];

/** The first and the longest of waits that grow, in milliseconds. */
export type Range = readonly [first: number, longest: number];

/** The range that was given. One that is given alone moves the default of the other. */
export function rangeOf([first, longest]: GivenRange, [defaultFirst, defaultLongest]: Range): Range {
  return [
    first ?? Math.min(defaultFirst, longest ?? defaultFirst),
    longest ?? Math.max(defaultLongest, first ?? defaultLongest),
  ];
}

/** Refuses a first wait that is longer than the longest one. */
export function expectRange([first = 0, longest = first]: GivenRange, names: readonly [string, string]): void {
  if (first <= longest) return;
  invalid(`${names[0]} (${first}) must not be above ${names[1]} (${longest})`);
}
