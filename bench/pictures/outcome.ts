import { arrow, type Picture, rect, text } from "./svg.ts";

/** From the moment before a write leaves to its answer: where it fails, the outcome, and whether to send it again. */
const ROWS = [
  ["Before it leaves", "wrong argument, no connection", "not_sent", "yes", "ok"],
  ["On the way, or a 5xx", "connection lost, timeout", "unknown", "look first", "amber"],
  ["The service says no", "400, 401, 403, 404, 409, 429", "rejected", "fix it first", "blue"],
  ["The service says yes", "2xx with an unusable body", "accepted", "no", "no"],
] as const;

export function outcome(): Picture {
  const body = [
    text([92, 88], "it fails", "s"),
    text([440, 88], "outcome", "s"),
    text([772, 88], "send it again?", "s e"),
    arrow([52, 526], "down", "M52 104V520"),
  ];
  for (const [at, [where, cases, name, again, colour]] of ROWS.entries()) {
    const y = 106 + at * 106;
    body.push(
      rect([80, y], [692, 92], "panel round"),
      `<circle cx="52" cy="${y + 46}" r="11" class="${colour}"/>`,
      text([94, y + 38], where, "b"),
      text([94, y + 70], cases, "s"),
      text([440, y + 38], name, `b code ${colour}`),
      text([758, y + 38], again, "b e"),
    );
  }
  body.push(text([80, 556], "A read changes nothing: you can always send it again.", "s"));
  const told = ROWS.map(([where, cases, name, again]) => `${where} (${cases}): ${name}, send it again? ${again}`);
  const alt = `Where a write can fail, its outcome, and whether to send it again. ${told.join(". ")}. A read changes nothing: you can always send it again.`;
  return { title: "Where a write fails, and whether to send it again", subtitle: "", alt, height: 580, body };
}
