import { type Disturbance, type FaultKind, KINDS, nameOf } from "./kinds.ts";
import { groupBy } from "./places.ts";
import { type ExploredRequest, subjectOf } from "./requests.ts";
import { WORST_FIRST, type Wrong } from "./verdict.ts";

/** One cause: the same thing goes wrong after the same operation. */
export interface Finding {
  /** The problem at the end. */
  readonly what: Wrong["what"];
  /** The fault of the shortest run that shows it. */
  readonly fault: FaultKind;
  /** The request that the fault hit. */
  readonly request: ExploredRequest;
  /** True if the service did what the request asks for. */
  readonly applied: boolean;
  /** The kinds of fault that show it. */
  readonly faults: readonly FaultKind[];
  /** The run in words: the problem, the request, the starts. */
  readonly message: string;
  /** The run, as the flag `--only` takes it. */
  readonly only: string;
}

/** The result of an exploration. */
export interface ExplorationReport {
  /** The runs with a fault. */
  readonly runs: number;
  /** The requests of the undisturbed program. */
  readonly requests: number;
  /** Runs that ended as the undisturbed one. */
  readonly right: number;
  /** Runs in which the program said, by its exit code, that it is not done. */
  readonly told: number;
  /** Runs that were not made: above 60, those of most requests. */
  readonly leftOut: number;
  /** The runs whose fault met no request, as the flag `--only` takes them. */
  readonly unreached: readonly string[];
  /** The causes, the worst first. */
  readonly findings: readonly Finding[];
  /** The verdict, the findings, and what was not compared. */
  readonly message: string;
}

/** `explore` rejects with it if something was found, or not all was tried. */
export class ExplorationError extends Error {
  /** `"ExplorationError"`. */
  override readonly name = "ExplorationError";
  /** The report, with its findings. */
  readonly report: ExplorationReport;

  /** @internal Not for callers: `explore` makes it. */
  constructor(report: ExplorationReport) {
    super(report.message);
    this.report = report;
  }
}

/** True if there were runs, each met its fault, and nothing was found. */
export function hasPassed({ findings, runs, unreached }: ExplorationReport): boolean {
  return runs > 0 && findings.length === 0 && unreached.length === 0;
}

export interface Instance {
  readonly wrong: Wrong;
  readonly disturbance: Disturbance;
  readonly applied: boolean;
  readonly starts: readonly string[];
}

/** Groups instances by cause: what happened, whether the service did it, and the operation. */
export function groupByCause(instances: readonly Instance[]): Finding[] {
  const causeOf = ({ wrong, applied, disturbance: { request } }: Instance): string =>
    `${wrong.what} ${applied} ${subjectOf(request)}`;
  const findings = Array.from(groupBy(instances, causeOf).values(), (group): Finding => {
    const shortest = group.reduce((best, one) => (one.starts.length < best.starts.length ? one : best));
    const { wrong, disturbance, applied } = shortest;
    const faults = [...new Set(group.map((one) => one.disturbance.fault))];
    return {
      what: wrong.what,
      ...disturbance,
      applied,
      faults,
      message: messageOf(shortest),
      only: nameOf(disturbance),
    };
  });
  const rank = ({ what }: Finding): number => WORST_FIRST.indexOf(what);
  return findings.sort((one, other) => rank(one) - rank(other) || other.faults.length - one.faults.length);
}

const ORDINALS = ["first", "second", "third"];

function messageOf({ wrong, disturbance: { fault, request }, applied, starts }: Instance): string {
  const ordinal = ORDINALS[request.number - 1] ?? `${request.number}th`;
  const did = applied ? "the service did it" : "the service did not do it";
  return `${wrong.what}: ${wrong.words}
   the ${ordinal} ${subjectOf(request)}: ${KINDS[fault].words}; ${did}
   ${starts.join("; ")}`;
}

export interface Tally extends Omit<ExplorationReport, "message"> {
  readonly notes: readonly string[];
  readonly repeat: (only: string) => string;
}

export function reportOf({ notes, repeat, ...numbers }: Tally): ExplorationReport {
  const causes = numbers.findings.map(({ message, faults, fault, only }, at) => {
    const others = faults.filter((name) => name !== fault);
    const also = others.length === 0 ? "" : `\n   also by ${others.join(", ")}`;
    return `${at + 1}. ${message}${also}\n   ${repeat(only)}`;
  });
  const { runs, leftOut } = numbers;
  const left = leftOut > 0 ? [`Left out: ${leftOut} of ${runs + leftOut} runs. --all makes them.`] : [];
  return { ...numbers, message: [verdictOf(numbers), ...causes, ...missedOf(numbers), ...left, ...notes].join("\n\n") };
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

function verdictOf({ findings, runs, told, unreached, leftOut }: Omit<ExplorationReport, "message">): string {
  if (findings.length > 0) return `Not safe: ${counted(findings.length, "cause")} in ${counted(runs, "run")}.`;
  if (runs === 0) return "Nothing was tried: none of these faults is for the requests of this program.";
  if (unreached.length > 0)
    return `Not all was tried: ${missed({ runs, unreached })}. Nothing was found in the others.`;
  const isSafe = leftOut === 0;
  const settle = `${told} of ${counted(runs, "run")} end with something for a person to settle.`;
  if (told > 0) return `${isSafe ? "Safe" : "Nothing was found"}, but ${settle}`;
  if (!isSafe) return `Nothing was found in ${counted(runs, "run")}.`;
  return runs === 1 ? "Safe: the one run." : `Safe: all ${runs} runs.`;
}

function missed({ runs, unreached }: Pick<ExplorationReport, "runs" | "unreached">): string {
  return `in ${unreached.length} of ${counted(runs, "run")} the request for the fault did not come`;
}

function missedOf({ findings, runs, unreached }: Omit<ExplorationReport, "message">): string[] {
  if (unreached.length === 0) return [];
  const which = `${unreached.slice(0, 5).join(", ")}${unreached.length > 5 ? ", …" : ""}`;
  return [
    findings.length > 0 ? `Not all was tried: ${missed({ runs, unreached })} (${which}).` : `Not tried: ${which}.`,
  ];
}
