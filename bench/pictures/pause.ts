import { type Call, LABEL, PITCH, rowsOf, type Span, scaleOf } from "./calls.ts";
import { result } from "./results.ts";
import { type Picture, part, rect, text } from "./svg.ts";

/** Recorded by `record-pause.ts`. */
export interface Pause extends Span {
  readonly retryAfterMs: number;
  readonly calls: readonly Call["requests"][];
}

const TOP = 150;

export function pause(): Picture {
  const { retryAfterMs, from, until, ...recorded } = result<Pause>("pause");
  const calls = recorded.calls.map((requests) => ({ from: 0, requests }));
  const xOf = scaleOf(calls);
  const bottom = TOP + calls.length * PITCH;
  const refused = calls.filter(({ requests: [first] }) => first?.status === 429).length;
  const after = calls.flatMap(({ requests }) => requests.filter((request) => request.from >= until)).length;
  const middle = (xOf(from) + xOf(until)) / 2;
  const body = [
    rect([xOf(from), TOP - 44], [xOf(until) - xOf(from), bottom - TOP + 48], "panel"),
    text([middle, TOP - 16], `pause: Retry-After ${retryAfterMs / 1_000} s`, "b m"),
    text([middle, TOP + PITCH * 3], "nothing is sent", "s m"),
    text([xOf(until) - 14, TOP + PITCH * (calls.length - after) - 12], "1 request goes ahead", "b e"),
    text([xOf(until) - 14, bottom + 30], `then the other ${after - 1}, in order`, "b e"),
    ...rowsOf(calls, TOP, ({ status }) => (status >= 400 ? `${status}` : "")),
  ];
  const alt = `${calls.length} calls at once: ${calls.length - after} are accepted, ${refused} are refused with a 429. The client pauses for the Retry-After of ${retryAfterMs / 1_000} s, sends 1 request ahead, and then the other ${after - 1} in order.`;
  const subtitle = `${part("accepted", "ok b")}, ${part("refused (429)", "no b")}, ${part("waiting", "b")}`;
  return {
    title: `${calls.length} calls at once, and a rate limit`,
    subtitle,
    alt,
    height: bottom + 52,
    css: LABEL,
    body,
  };
}
