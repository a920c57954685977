import { result } from "./results.ts";
import { escaped, LEFT, type Picture } from "./svg.ts";

/** Recorded by `record-bulk.ts`. */
export interface BulkTerminal {
  readonly items: number;
  /** Issues in the service at the end, and those beyond one for each row. */
  readonly created: number;
  readonly duplicates: number;
  /** One command each; the first was killed. A frame is what the line of progress says from a time on. */
  readonly runs: readonly {
    readonly command: string;
    readonly frames: readonly (readonly [ms: number, line: string])[];
    readonly report: readonly string[];
  }[];
}

const [TOP, PITCH, HOLD_MS, TYPING_MS] = [80, 26, 5_000, 900];
/** The end is shown first, so that a still picture has it. */
const END_FIRST_MS = 1_500;
const WITHIN_WIDTH = /.{1,62}(?: |$)/g;
const CSS = `.term{fill:#0d1117}.bar{fill:#2d333b}.code{font-size:18px;fill:#e6edf3;white-space:pre}.dim{fill:#9198a1}.go{fill:#3fb950}.wait{fill:#d29922}.stop{fill:#f85149}.f{opacity:0}
@media(max-width:560px){.code{font-size:19px}}`;

/** A command behind its prompt; a long one goes on behind a backslash. */
function linesOfCommand(command: string): readonly string[] {
  const [program = "", flags] = command.split(/ (?=--)(.*)/s);
  return flags === undefined ? [`$ ${program}`] : [`$ ${program} \\`, `    ${flags}`];
}

/** A line of the report; a long one goes on in further lines. */
function wrapped(line: string): readonly string[] {
  return (line.match(WITHIN_WIDTH) ?? []).map((piece, index) => (index === 0 ? piece : `    ${piece}`));
}

/** A terminal. Without motion it shows the last frame of each line. */
export function bulkTerminal(): Picture {
  const { items, created, duplicates, runs } = result<BulkTerminal>("bulk-terminal");
  const steps: { at: number; until?: number; y: number; line: string; colour: string }[] = [];
  let at = END_FIRST_MS + 200;
  let row = 0;
  const show = (line: string, colour: string): void => {
    steps.push({ at, y: TOP + row * PITCH, line, colour });
    row += 1;
  };
  for (const { command, frames, report } of runs) {
    for (const line of linesOfCommand(command)) show(line, "go");
    at += TYPING_MS;
    for (const [index, [ms, line]] of frames.entries()) {
      const next = frames[index + 1]?.[0];
      const until = next === undefined ? {} : { until: at + next };
      steps.push({ at: at + ms, ...until, y: TOP + row * PITCH, line, colour: "" });
    }
    row += 1;
    at += frames.at(-1)?.[0] ?? 0;
    if (report.length === 0) show("Killed", "stop");
    // A count of 0 says nothing new.
    for (const line of report.filter((one) => !one.endsWith(": 0")))
      for (const piece of wrapped(line)) show(piece, line.startsWith("unknown") ? "wait" : "dim");
    at += TYPING_MS;
  }
  show(`${created} issues in the service, ${duplicates} duplicates`, "go");
  const loop = at + HOLD_MS;
  const share = (ms: number): string => `${((100 * ms) / loop).toFixed(2)}%`;
  const keyframes = steps.map(({ at: from, until }, index) => {
    const gone = until === undefined ? "" : `${share(until)}{opacity:0}`;
    const first = until === undefined ? `0%{opacity:1}${share(END_FIRST_MS)}{opacity:0}` : "0%{opacity:0}";
    return `@keyframes k${index}{${first}${share(from)}{opacity:1}${gone}}#k${index}{animation:k${index} ${loop / 1_000}s step-end 3}`;
  });
  const height = TOP + row * PITCH + 8;
  const body = [
    `<rect class="term" x=".5" y=".5" width="799" height="${height - 1}" rx="12"/><path class="bar" d="M0 12A12 12 0 0 1 12 0H788A12 12 0 0 1 800 12V42H0z"/>`,
    ...["#f85149", "#d29922", "#3fb950"].map(
      (fill, dot) => `<circle cx="${28 + dot * 24}" cy="21" r="7" fill="${fill}"/>`,
    ),
    `<text x="772" y="27" class="code dim e">${items} rows, 50 requests every 2 s</text>`,
    ...steps.map(
      ({ y, line, colour, until }, index) =>
        `<text id="k${index}" x="${LEFT}" y="${y}" class="code ${colour}${until === undefined ? "" : " f"}">${escaped(line)}</text>`,
    ),
  ];
  const css = `${CSS}@media(prefers-reduced-motion:no-preference){${keyframes.join("")}}`;
  const [killed = ""] = runs[0]?.frames.at(-1)?.slice(1) ?? [];
  const unknown = /^unknown .*: (\d+)$/m.exec(runs[1]?.report.join("\n") ?? "")?.[1];
  const alt = `A terminal: an import of ${items} issues is killed with ${unknown} requests in flight, at "${killed}". The same command goes on: ${unknown} issues stay unknown, and are not sent. A person looks for them, and says so in a third command. At the end: ${created} issues in the service, ${duplicates} duplicates.`;
  return { title: "An import that is killed and goes on", alt, height, css, body };
}
