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

const VERDICTS = { agrees: "ok", differs: "differs", contradicts: "CONTRADICTS", not_asked: "not asked" };
export interface Layout {
  readonly width: number;
  /** Shows every question, and not only those with a difference. */
  readonly all: boolean;
}

export function textOf(report: Report, { width, all }: Layout): string {
  const { verdict, baseUrl, requests, questions } = report;
  const shown = (["contradicts", "differs", ...(all ? (["agrees"] as const) : [])] as const).flatMap((kind) =>
    questions.filter((one) => one.verdict === kind),
  );
  return [
    verdict,
    `${baseUrl}, ${plural(requests, "request", "requests")} answered`,
    ...shown.flatMap((question) => ["", ...detailsOf(question, width)]),
    ...notAskedOf(questions, width),
    "",
  ].join("\n");
}

function notAskedOf(questions: readonly ReportedQuestion[], width: number): string[] {
  const notAsked = questions.filter(({ verdict }) => verdict === "not_asked");
  const reasons = new Set(notAsked.map(({ seen }) => seen));
  const lines = [...reasons].flatMap((reason) => {
    const ids = notAsked.filter(({ seen }) => seen === reason).map(({ id }) => id);
    return layOut("  ", `${reason}: ${ids.join(", ")}`, width);
  });
  return lines.length === 0 ? [] : ["", "not asked, and why:", ...lines];
}

function detailsOf({ id, verdict, question, seen, assumes, so, about }: ReportedQuestion, width: number): string[] {
  const fields = { seen, assumed: assumes, so, about: verdict === "contradicts" ? about : undefined };
  return [
    `${VERDICTS[verdict]} ${id}: ${question}`,
    ...Object.entries(fields).flatMap(([name, text]) =>
      text === undefined ? [] : layOut(`  ${name}:`.padEnd(12), text, width),
    ),
  ];
}

/** A text behind its label, broken between words, and inside of one that is longer than a line. */
function layOut(label: string, text: string, width: number): string[] {
  const room = width - label.length;
  const lines = text.match(new RegExp(`.{1,${room}}(?: |$)|.{1,${room}}`, "gs")) ?? [""];
  return lines.map((line, index) => `${index === 0 ? label : " ".repeat(label.length)}${line}`.trimEnd());
}
