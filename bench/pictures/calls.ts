/** Calls on a time line: a row each, with a line while a call waits and a bar for each of its requests. */

import { LEFT, RIGHT, rect, segment, text } from "./svg.ts";

/** Times in ms from the start of the recording. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

export interface Call {
  readonly from: number;
  readonly requests: readonly (Span & { readonly status: number })[];
}

const START = 120;
export const PITCH = 31;

/** Returns where a moment is, on a picture that is as wide as the calls are long. */
export function scaleOf(calls: readonly Call[]): (ms: number) => number {
  const end = Math.max(...calls.flatMap(({ requests }) => requests.map(({ until }) => until))) + 60;
  return (ms) => START + ((RIGHT - START) * ms) / end;
}

export function rowsOf(calls: readonly Call[], top: number): string[] {
  const xOf = scaleOf(calls);
  return calls.flatMap(({ from, requests }, at) => {
    const y = top + at * PITCH;
    const bars = requests.map((request) => {
      const width = Math.max(8, xOf(request.until) - xOf(request.from));
      return rect([xOf(request.from), y + 4], [width, 20], request.status < 400 ? "ok" : "no");
    });
    const last = requests.at(-1)?.from ?? from;
    return [
      text([LEFT, y + 22], `call ${at + 1}`, "s"),
      segment([xOf(from), y + 14], [xOf(last), y + 14], "way"),
      ...bars,
    ];
  });
}
