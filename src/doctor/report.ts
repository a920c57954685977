import type { Probe, Verdict } from "./probe.ts";

/** What the whole run says: nothing contradicts the contract, something does, or the deployment could not be asked. */
export type Result = "agrees" | "contradicts" | "not_asked";

/** What was learned about one question. */
export interface ReportedQuestion extends Pick<Probe, "id" | "question" | "assumes" | "about"> {
  readonly verdict: Verdict;
  readonly seen: string;
}

/** The report of a run, as `--json` prints it. No token, id, name or value of a record is in it. */
export interface Report {
  /** The version of the doctor. */
  readonly doctor: string;
  readonly baseUrl: string;
  /** When the run began. */
  readonly at: string;
  /** How many requests were answered. */
  readonly requests: number;
  readonly result: Result;
  /** Whether the token that was created could not be revoked. */
  readonly tokenLeftBehind: boolean;
  readonly questions: readonly ReportedQuestion[];
}

const EXIT_CODES: Readonly<Record<Result, number>> = { agrees: 0, contradicts: 1, not_asked: 2 };

/** The exit code of the program. */
export function exitCodeOf({ result }: Report): number {
  return EXIT_CODES[result];
}

const VERDICTS: Readonly<Record<Verdict, string>> = {
  agrees: "ok",
  differs: "differs",
  contradicts: "CONTRADICTS",
  not_asked: "not asked",
};
const HEADINGS = ["asked", "seen", "assumed", "verdict"];
const GAP = "  ";
/** The last column holds the longest verdict; the others share what is left. */
const VERDICT_WIDTH = 11;
const SHARES = [0.38, 0.36, 0.26];

/** The report as a table of `width` characters, for a person. */
export function tableOf(report: Report, width: number): string {
  const room = width - VERDICT_WIDTH - 3 * GAP.length;
  const widths = [...SHARES.map((share) => Math.floor(room * share)), VERDICT_WIDTH];
  const rows = report.questions.map(({ question, seen, assumes, verdict }) => [
    question,
    seen,
    assumes,
    VERDICTS[verdict],
  ]);
  const lines = [HEADINGS, widths.map((columns) => "-".repeat(columns)), ...rows].flatMap((row) => layOut(row, widths));
  const contradictions = report.questions.filter(({ verdict }) => verdict === "contradicts");
  const details = contradictions.flatMap(({ id, seen, about }) => [`${id}: ${seen}`, `${GAP}${about}`]);
  return [
    report.baseUrl,
    "",
    ...lines,
    "",
    summaryOf(report),
    ...(details.length > 0 ? ["", ...details] : []),
    "",
  ].join("\n");
}

function summaryOf({ result, questions, requests }: Report): string {
  const count = (verdict: Verdict): number => questions.filter((question) => question.verdict === verdict).length;
  const counts = `${count("agrees")} ok, ${count("differs")} differ, ${count("contradicts")} contradict the contract or the client, ${count("not_asked")} not asked; ${requests} requests`;
  return result === "not_asked" ? `The deployment could not be asked. ${counts}` : counts;
}

/** The lines of one row: each cell is broken into as many as it needs. */
function layOut(row: readonly string[], widths: readonly number[]): string[] {
  const cells = row.map((text, column) => wrap(text, widths[column] ?? text.length));
  const height = Math.max(...cells.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((cell, column) => (cell[line] ?? "").padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

/** Breaks a text between words, and inside of one that is longer than a line. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (joined.length <= width) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    while (line.length > width) {
      lines.push(line.slice(0, width));
      line = line.slice(width);
    }
  }
  return [...lines, line];
}
