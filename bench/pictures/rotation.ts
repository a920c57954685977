import { type Call, LABEL, PITCH, rowsOf, type Span, scaleOf } from "./calls.ts";
import { result } from "./results.ts";
import { type Picture, type Point, part, rect, segment, text } from "./svg.ts";

/** Recorded by `record-rotation.ts`. */
export interface Rotation extends Span {
  /** When the service has ended the old token. */
  readonly revoked: number;
  readonly stored: number;
  readonly apartMs: number;
  readonly calls: readonly Call[];
}

const TOP = 150;

export function rotation(): Picture {
  const { from, revoked, until, stored, apartMs, calls } = result<Rotation>("rotation");
  const xOf = scaleOf(calls);
  const bottom = TOP + calls.length * PITCH;
  const sent = (call: Call): number => call.requests[0]?.from ?? 0;
  const before = calls.filter((call) => sent(call) < from).length;
  const refused = calls.filter(({ requests: [first] }) => first?.status === 401).length;
  const waiting = calls.filter((call) => call.from > until && call.from < stored).length;
  const left = (at: number, moment: number): Point => [xOf(moment) - 12, TOP + PITCH * at + 20];
  const body = [
    rect([xOf(from), TOP - 44], [xOf(until) - xOf(from), bottom - TOP + 48], "panel"),
    rect([xOf(until), TOP - 44], [xOf(stored) - xOf(until), bottom - TOP + 48], "panel"),
    text([(xOf(from) + xOf(until)) / 2, TOP - 16], "rotation", "b m"),
    text([(xOf(until) + xOf(stored)) / 2, TOP - 16], "storing", "b m"),
    segment([xOf(revoked), TOP], [xOf(revoked), bottom + 4], "way dash"),
    text([xOf(revoked), bottom + 30], "the old token ends", "s m"),
    text(left(before, from), "rotates first", "s e"),
    ...rowsOf(calls, TOP, ({ from: sentAt, status }) =>
      status >= 400 ? `${status}` : sentAt < stored ? "old token" : "new token",
    ),
  ];
  const alt = `${calls.length} calls, one every ${apartMs} ms, and a rotation. ${before} calls are accepted with the old token. Call ${before + 1} sends the rotation, and waits until onRotated has stored the new token. The next ${refused} calls are sent with the old token, which has ended: they get a 401, and wait. ${waiting} calls begin while the token is being stored, and wait. Then all are sent with the new token and accepted.`;
  const subtitle = `${part("accepted", "ok b")}, ${part("refused (401)", "no b")}, ${part("waiting", "b")}`;
  return {
    title: `${calls.length} calls during a rotation`,
    subtitle,
    alt,
    height: bottom + 52,
    css: LABEL,
    body,
  };
}
