import type { Question, Verdict } from "./question.ts";

/** The result of the whole run: nothing contradicts the API documentation, something does, or the deployment could not be asked. */
export type Result = "agrees" | "contradicts" | "not_asked";

export interface ReportedQuestion extends Pick<Question, "id" | "question" | "assumes" | "about"> {
  readonly verdict: Verdict;
  readonly seen: string;
  /** The consequence for a program that uses the client; only where something differs or contradicts. */
  readonly so?: string;
}

/** The report of a run, as `--json` prints it. No token, id, name or value of a record is in it, words for states aside. */
export interface Report {
  readonly doctor: string;
  readonly baseUrl: string;
  readonly at: string;
  readonly requests: number;
  readonly result: Result;
  readonly verdict: string;
  /** True if a token was created, or may have been, and was not revoked. */
  readonly tokenLeftBehind: boolean;
  /** None if the deployment could not be asked. */
  readonly questions: readonly ReportedQuestion[];
}

/** The run in a sentence; `halted` says why it did not ask all its questions. */
export function verdictOf(questions: readonly ReportedQuestion[], halted: string | undefined): string {
  const count = (verdict: Verdict): number => questions.filter((question) => question.verdict === verdict).length;
  const [contradicts, differs] = [count("contradicts"), count("differs")];
  const found = [
    ...(contradicts > 0
      ? [`${plural(contradicts, "answer contradicts", "answers contradict")} the API documentation`]
      : []),
    ...(differs > 0 ? [`${plural(differs, "answer differs", "answers differ")} from what is assumed`] : []),
  ].join(", and ");
  const counts = `${count("agrees")} as assumed, ${count("not_asked")} not asked`;
  return `${halted ?? "this is the service"}; ${found || "nothing differs from what is assumed"} (${counts})`;
}

function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

const EXIT_CODES: Readonly<Record<Result, number>> = { agrees: 0, contradicts: 1, not_asked: 2 };

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
const LABEL_WIDTH = "assumed:".length;
const SHARES = [0.38, 0.36, 0.26];

export interface Layout {
  readonly width: number;
  /** Shows every question in a table, and not only those with a difference. */
  readonly all: boolean;
}

export function textOf(report: Report, { width, all }: Layout): string {
  const { verdict, baseUrl, requests, questions } = report;
  const notable = (["contradicts", "differs"] as const).flatMap((kind) =>
    questions.filter((one) => one.verdict === kind),
  );
  return [
    verdict,
    `${baseUrl}, ${plural(requests, "request", "requests")} answered`,
    ...(all && questions.length > 0 ? ["", ...tableOf(questions, width)] : []),
    ...notable.flatMap((question) => ["", ...detailsOf(question, width)]),
    ...(all ? [] : notAskedOf(questions, width)),
    "",
  ].join("\n");
}

function notAskedOf(questions: readonly ReportedQuestion[], width: number): string[] {
  const notAsked = questions.filter(({ verdict }) => verdict === "not_asked");
  const reasons = new Set(notAsked.map(({ seen }) => seen));
  const lines = [...reasons].flatMap((reason) => {
    const ids = notAsked.filter(({ seen }) => seen === reason).map(({ id }) => id);
    return layOut(["", `${reason}: ${ids.join(", ")}`], [0, width - GAP.length]);
  });
  return lines.length === 0 ? [] : ["", "not asked, and why:", ...lines];
}

function detailsOf({ id, verdict, question, seen, assumes, so, about }: ReportedQuestion, width: number): string[] {
  const fields = { seen, assumed: assumes, so, about: verdict === "contradicts" ? about : undefined };
  return [
    `${VERDICTS[verdict]} ${id}: ${question}`,
    ...Object.entries(fields).flatMap(([name, text]) =>
      text === undefined ? [] : layOut(["", `${name}:`, text], [0, LABEL_WIDTH, width - LABEL_WIDTH - 2 * GAP.length]),
    ),
  ];
}

function tableOf(questions: readonly ReportedQuestion[], width: number): string[] {
  const room = width - VERDICT_WIDTH - 3 * GAP.length;
  const widths = [...SHARES.map((share) => Math.floor(room * share)), VERDICT_WIDTH];
  const rows = questions.map(({ question, seen, assumes, verdict }) => [question, seen, assumes, VERDICTS[verdict]]);
  return [HEADINGS, widths.map((columns) => "-".repeat(columns)), ...rows].flatMap((row) => layOut(row, widths));
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
  if (text.length <= width) return [text];
  const lines = text.match(new RegExp(`.{1,${width}}(?: |$)|.{1,${width}}`, "gs")) ?? [];
  return lines.map((line) => line.trimEnd());
}
