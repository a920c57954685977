import type { Outcome } from "../../src/client/index.ts";
import { FATES, SEND_AGAIN } from "../../test/support/outcome-table.ts";
import { arrow, type Picture, rect, text } from "./svg.ts";

/** The panels, from the moment before a write leaves to its answer: their headings and colours. */
const PANELS: readonly (readonly [Outcome, heading: string, colour: string])[] = [
  ["not_sent", "It never left", "ok"],
  ["unknown", "It may have been done", "amber"],
  ["rejected", "It was refused", "blue"],
  ["accepted", "It was done", "no"],
];

/** The first panel begins here. */
const TOP = 106;
const LINE = 30;

/** The rows of docs/errors.md, by their outcome. */
export function outcome(): Picture {
  const body = [
    text([92, 88], "it fails", "s"),
    text([440, 88], "outcome", "s"),
    text([772, 88], "send it again?", "s e"),
  ];
  let top = TOP;
  const told: string[] = [];
  for (const [name, heading, colour] of PANELS) {
    const cases = FATES.filter((row) => row.outcome === name).map(({ drawn }) => drawn);
    const again = inTwo(SEND_AGAIN[name]);
    const height = 48 + LINE * Math.max(cases.length, again.length - 1);
    const right = (line: string, index: number): string => text([758, top + 36 + LINE * index], line, "b e");
    body.push(
      rect([80, top], [692, height], "panel round"),
      `<circle cx="52" cy="${top + height / 2}" r="11" class="${colour}"/>`,
      text([94, top + 36], heading, "b"),
      ...cases.map((line, index) => text([94, top + 66 + LINE * index], line, "s")),
      text([440, top + 36], name, `b code ${colour}`),
      ...again.map(right),
    );
    top += height + 14;
    told.push(`${heading} (${cases.join("; ")}): ${name}, send it again? ${SEND_AGAIN[name]}`);
  }
  const last = "A read changes nothing: you can always send it again.";
  body.unshift(arrow([52, top - 8], "down", `M52 ${TOP - 2}V${top - 14}`));
  body.push(text([80, top + 22], last, "s"));
  const alt = `Where a write can fail, its outcome, and whether to send it again. ${told.join(". ")}. ${last}`;
  return {
    title: "Where a write fails, and whether to send it again",
    subtitle: "",
    alt,
    height: top + 46,
    body,
  };
}

/** A text in one line, or in two of about the same length. */
function inTwo(words: string): readonly string[] {
  if (words.length < 14) return [words];
  const at = words.lastIndexOf(" ", Math.ceil(words.length * 0.6));
  return [words.slice(0, at), words.slice(at + 1)];
}
