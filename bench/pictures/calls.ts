/** Calls on a time line: a row each, with a line while a call waits and a bar for each of its requests. */

import { LEFT, RIGHT, rect, segment, text } from "./svg.ts";

/** Times in ms from the start of the recording. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

export interface Request extends Span {
  readonly status: number;
}

export interface Call {
  readonly from: number;
  readonly requests: readonly Request[];
}

const START = 120;
export const PITCH = 31;
/** A label within a bar. */
export const LABEL = ".label{fill:var(--bg)}";

/** Returns where a moment is, on a picture that is as wide as the calls are long. */
export function scaleOf(calls: readonly Call[]): (ms: number) => number {
  const end = Math.max(...calls.flatMap(({ requests }) => requests.map(({ until }) => until))) + 60;
  return (ms) => START + ((RIGHT - START) * ms) / end;
}

/** Rows of the calls, from `top` on. Bars have labels, because colours alone do not tell. */
export function rowsOf(calls: readonly Call[], top: number, labelOf: (request: Request) => string): string[] {
  const xOf = scaleOf(calls);
  return calls.flatMap(({ from, requests }, at) => {
    const y = top + at * PITCH;
    const bars = requests.flatMap((request) => {
      const width = Math.max(8, xOf(request.until) - xOf(request.from));
      const label = labelOf(request);
      return [
        rect([xOf(request.from), y + 3], [width, 24], request.status < 400 ? "ok" : "no"),
        ...(label === "" ? [] : [text([xOf(request.from) + width / 2, y + 21], label, "s m label")]),
      ];
    });
    const last = requests.at(-1)?.from ?? from;
    return [
      text([LEFT, y + 22], `call ${at + 1}`, "s"),
      segment([xOf(from), y + 14], [xOf(last), y + 14], "way"),
      ...bars,
    ];
  });
}
