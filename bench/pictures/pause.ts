import { result } from "./results.ts";
import { type Picture, rect, segment, text } from "./svg.ts";

/** Recorded by `record-pause.ts`; times in ms from the first request. */
export interface Pause {
  readonly retryAfterMs: number;
  readonly from: number;
  readonly until: number;
  readonly calls: readonly (readonly { readonly from: number; readonly until: number; readonly status: number }[])[];
}

const [LEFT, RIGHT, TOP, PITCH] = [120, 772, 150, 31];

export function pause(): Picture {
  const { retryAfterMs, from, until, calls } = result<Pause>("pause");
  const end = Math.max(...calls.flat().map((request) => request.until)) + 60;
  const xOf = (ms: number): number => LEFT + ((RIGHT - LEFT) * ms) / end;
  const bottom = TOP + calls.length * PITCH;
  const refused = calls.filter(([first]) => first?.status === 429).length;
  const after = calls.flatMap((requests) => requests.filter((request) => request.from >= until)).length;
  const ahead = Math.min(
    ...calls
      .flat()
      .filter((request) => request.from >= until)
      .map((request) => request.from),
  );
  const middle = (xOf(from) + xOf(until)) / 2;
  const body = [
    text([28, 42], `${calls.length} calls at once, and a rate limit`, "h"),
    `<text x="28" y="74" class="s"><tspan class="ok b">accepted</tspan>, <tspan class="no b">refused (429)</tspan>, <tspan class="b">waiting</tspan></text>`,
    rect([xOf(from), TOP - 44], [xOf(until) - xOf(from), bottom - TOP + 48], "panel"),
    text([middle, TOP - 16], `pause: Retry-After ${retryAfterMs / 1_000} s`, "b m"),
    text([middle, TOP + PITCH * 3], "nothing is sent", "s m"),
    text([xOf(until) - 14, TOP + PITCH * (calls.length - after) - 12], "1 request goes ahead", "b e"),
    text([xOf(until) - 14, bottom + 30], `then the other ${after - 1}, in order`, "b e"),
  ];
  for (const [at, requests] of calls.entries()) {
    const y = TOP + at * PITCH;
    const last = requests.at(-1);
    body.push(text([28, y + 22], `call ${at + 1}`, "s"));
    if (last !== undefined) body.push(segment([xOf(0), y + 14], [xOf(last.from), y + 14], "line wide"));
    for (const request of requests) {
      const colour = request.status === 429 ? "no" : "ok";
      body.push(rect([xOf(request.from), y + 4], [Math.max(8, xOf(request.until) - xOf(request.from)), 20], colour));
    }
  }
  body.push(segment([xOf(ahead), TOP - 44], [xOf(ahead), bottom + 4], "line dash"));
  const alt = `${calls.length} calls at once: ${calls.length - after} are accepted, ${refused} are refused with a 429. The client pauses for the Retry-After of ${retryAfterMs / 1_000} s, sends 1 request ahead, and then the other ${after - 1} in order.`;
  return { title: "A pause of the rate limiter", alt, height: bottom + 52, body };
}
