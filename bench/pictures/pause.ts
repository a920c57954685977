import { result } from "./results.ts";
import { LEFT, type Picture, part, RIGHT, rect, segment, text } from "./svg.ts";

/** Recorded by `record-pause.ts`; times in ms from the first request. */
export interface Pause {
  readonly retryAfterMs: number;
  readonly from: number;
  readonly until: number;
  readonly calls: readonly (readonly { readonly from: number; readonly until: number; readonly status: number }[])[];
}

const [START, TOP, PITCH] = [120, 150, 31];

export function pause(): Picture {
  const { retryAfterMs, from, until, calls } = result<Pause>("pause");
  const end = Math.max(...calls.flat().map((request) => request.until)) + 60;
  const xOf = (ms: number): number => START + ((RIGHT - START) * ms) / end;
  const bottom = TOP + calls.length * PITCH;
  const refused = calls.filter(([first]) => first?.status === 429).length;
  const after = calls.flatMap((requests) => requests.filter((request) => request.from >= until)).length;
  const middle = (xOf(from) + xOf(until)) / 2;
  const body = [
    rect([xOf(from), TOP - 44], [xOf(until) - xOf(from), bottom - TOP + 48], "panel"),
    text([middle, TOP - 16], `pause: Retry-After ${retryAfterMs / 1_000} s`, "b m"),
    text([middle, TOP + PITCH * 3], "nothing is sent", "s m"),
    text([xOf(until) - 14, TOP + PITCH * (calls.length - after) - 12], "1 request goes ahead", "b e"),
    text([xOf(until) - 14, bottom + 30], `then the other ${after - 1}, in order`, "b e"),
  ];
  for (const [at, requests] of calls.entries()) {
    const y = TOP + at * PITCH;
    const last = requests.at(-1);
    body.push(text([LEFT, y + 22], `call ${at + 1}`, "s"));
    if (last !== undefined) body.push(segment([xOf(0), y + 14], [xOf(last.from), y + 14], "line wide"));
    for (const request of requests) {
      const colour = request.status === 429 ? "no" : "ok";
      body.push(rect([xOf(request.from), y + 4], [Math.max(8, xOf(request.until) - xOf(request.from)), 20], colour));
    }
  }
  const alt = `${calls.length} calls at once: ${calls.length - after} are accepted, ${refused} are refused with a 429. The client pauses for the Retry-After of ${retryAfterMs / 1_000} s, sends 1 request ahead, and then the other ${after - 1} in order.`;
  const subtitle = `${part("accepted", "ok b")}, ${part("refused (429)", "no b")}, ${part("waiting", "b")}`;
  return { title: `${calls.length} calls at once, and a rate limit`, subtitle, alt, height: bottom + 52, body };
}
