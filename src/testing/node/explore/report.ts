import { type Disturbance, type ExploredRequest, type FaultKind, KINDS, subjectOf } from "./fault-kinds.ts";
import { WORST_FIRST, type Wrong } from "./judge.ts";

/** One cause: the same thing goes wrong after the same operation. */
export interface Finding {
  /** The flaw at the end. */
  readonly what: Wrong["what"];
  /** The fault of the shortest instance. */
  readonly fault: FaultKind;
  /** The request that the fault hit. */
  readonly request: ExploredRequest;
  /** True if the service did what the request asks for. */
  readonly applied: boolean;
  /** The number of runs that show it. */
  readonly runs: number;
  /** The instance in words. */
  readonly message: string;
  /** The instance as a program that you can paste and run. */
  readonly script: string;
}

/** The result of an exploration. */
export interface ExplorationReport {
  /** The runs with a fault. */
  readonly runs: number;
  /** The requests of the undisturbed program. */
  readonly requests: number;
  /** Runs that ended as the undisturbed one. */
  readonly right: number;
  /** Runs in which the program said, by a rejection, that it is not done. */
  readonly told: number;
  /** Runs whose fault met no request. */
  readonly unreached: number;
  /** The causes, the worst first. */
  readonly findings: readonly Finding[];
  /** The verdict, the findings, and what was not compared. */
  readonly message: string;
}

/** `exploreFaults` rejects with it if something was found. */
export class ExplorationError extends Error {
  /** `"ExplorationError"`. */
  override readonly name = "ExplorationError";
  /** The report, with its findings. */
  readonly report: ExplorationReport;

  /** @internal Not for callers: `exploreFaults` makes it. */
  constructor(report: ExplorationReport) {
    super(report.message);
    this.report = report;
  }
}

/** One run in which something is wrong. */
export interface Instance {
  readonly wrong: Wrong;
  readonly disturbances: readonly Disturbance[];
  readonly applied: boolean;
  readonly starts: readonly string[];
}

/** Leaves out an instance of two faults if one of the two alone shows the same. */
export function beyondSingles(instances: readonly Instance[]): Instance[] {
  const keyOf = ({ fault, request }: Disturbance): string => `${fault} ${subjectOf(request)} ${request.index}`;
  const alone = new Map<string, string>();
  for (const { wrong, disturbances } of instances) {
    const [only, ...others] = disturbances;
    if (only !== undefined && others.length === 0) alone.set(keyOf(only), wrong.what);
  }
  return instances.filter(
    ({ wrong, disturbances }) =>
      disturbances.length === 1 || !disturbances.some((one) => alone.get(keyOf(one)) === wrong.what),
  );
}

/** Groups instances by cause: what happened, whether the service did it, and the operation. */
export function groupByCause(instances: readonly Instance[], scriptOf: (instance: Instance) => string): Finding[] {
  const groups = new Map<string, { first: Instance; last: Disturbance; runs: number }>();
  for (const instance of instances) {
    const last = instance.disturbances.at(-1);
    if (last === undefined) continue;
    const cause = [instance.wrong.what, instance.applied, subjectOf(last.request)].join(" ");
    const group = groups.get(cause);
    if (group === undefined) groups.set(cause, { first: instance, last, runs: 1 });
    else {
      group.runs += 1;
      if (sizeOf(instance) < sizeOf(group.first)) Object.assign(group, { first: instance, last });
    }
  }
  const findings = [...groups.values()].map(({ first, last, runs }) => ({
    what: first.wrong.what,
    ...last,
    applied: first.applied,
    runs,
    message: messageOf(first),
    script: scriptOf(first),
  }));
  const rank = ({ what }: Finding): number => WORST_FIRST.indexOf(what);
  return findings.sort((one, other) => rank(one) - rank(other) || other.runs - one.runs);
}

const sizeOf = ({ disturbances, starts }: Instance): number => disturbances.length * 100 + starts.length;

const ORDINALS = ["first", "second", "third"];

function messageOf({ wrong, disturbances, applied, starts }: Instance): string {
  const faults = disturbances.map(({ fault, request }) => {
    const place = ORDINALS[request.index] ?? `${request.index + 1}th`;
    return `the ${place} ${subjectOf(request)} (skip: ${request.index}): ${KINDS[fault].words}`;
  });
  const did = applied ? "the service did it" : "the service did not do it";
  const ends = starts.map((end, index) => `start ${index + 1} ${end}`);
  return `${wrong.what}: ${wrong.words}\n  ${faults.join("; then ")}; ${did}\n  ${ends.join("; ")}`;
}

/** The numbers of a report, and what was not compared. */
export interface Tally extends Omit<ExplorationReport, "message"> {
  readonly notes: readonly string[];
}

/** The whole report in words, the verdict first. */
export function reportOf({ notes, ...numbers }: Tally): ExplorationReport {
  const { findings, runs, told } = numbers;
  const blocks = findings.map(
    (finding) => `${finding.message}\n  ${finding.runs} ${finding.runs === 1 ? "run" : "runs"}\n\n${finding.script}`,
  );
  return {
    ...numbers,
    message: [verdictOf({ causes: findings.length, runs, told }), ...notes, ...blocks].join("\n\n"),
  };
}

function verdictOf({ causes, runs, told }: { causes: number; runs: number; told: number }): string {
  if (causes > 0) return `Not safe: ${causes} ${causes === 1 ? "cause" : "causes"} in ${runs} runs.`;
  if (told > 0) return `Safe, but ${told} of ${runs} runs need a person.`;
  return `Safe: all ${runs} runs.`;
}
