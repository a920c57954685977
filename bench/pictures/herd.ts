import { count, figuresOf } from "./results.ts";
import { LEFT, type Picture, part, RIGHT, rect, segment, text } from "./svg.ts";

interface Herd {
  readonly succeeded: number;
  readonly failed: number;
  readonly seconds: number;
  readonly requests: number;
  readonly refused: number;
  /** `[step of 100 ms, accepted, refused]` */
  readonly series: readonly (readonly [step: number, accepted: number, refused: number])[];
}

/** The client in the results, its label, and its name in a sentence. */
const ROWS = [
  ["project-automation", "project-automation", "This client"],
  ["@slack/web-api", "@slack/web-api", "The Slack SDK"],
  ["a retry loop by hand", "a retry loop by hand", "A hand-written retry loop"],
  ["ky", "ky (does not repeat a POST)", "ky, which does not repeat a POST"],
] as const;
const [TOP, PITCH, TALL] = [100, 140, 66];
/** Steps in a bar. */
const BAR = 4;
const LIMIT = 50;

export function herd(): Picture {
  const rows = ROWS.map(([client, label, name]) => {
    const figures = figuresOf<Herd>("herd", client);
    return { ...figures, label, name, bars: barsOf(figures.series) };
  });
  const steps = Math.max(...rows.flatMap(({ series }) => series.map(([step]) => step))) + BAR;
  const most = Math.max(...rows.flatMap(({ bars }) => bars.map(([, accepted, refused]) => accepted + refused)));
  const xOf = (step: number): number => LEFT + ((RIGHT - LEFT) * step) / steps;
  const bottom = TOP + PITCH * rows.length;
  const seconds = Array.from({ length: Math.floor(steps / 40) + 1 }, (_, at) => at * 4);
  const body = [...seconds.map((at) => text([xOf(at * 10), bottom + 20], `${at} s`, at === 0 ? "s" : "s m"))];
  for (const [at, { label, succeeded, failed, requests, refused, seconds: took, bars }] of rows.entries()) {
    const y = TOP + at * PITCH;
    const floor = y + 60 + TALL;
    const level = (some: number): number => floor - (some * TALL) / most;
    body.push(
      text([LEFT, y + 24], label, "b"),
      text([RIGHT, y + 24], `${succeeded} of ${succeeded + failed}`, `big e ${failed === 0 ? "ok" : "no"}`),
      text([LEFT, y + 51], `${count(requests)} requests, ${count(refused)} refused`, "s"),
      text([RIGHT, y + 51], failed === 0 ? `in ${took} s` : `${failed} calls failed`, "s e"),
      segment([LEFT, level(LIMIT)], [RIGHT, level(LIMIT)], "line dash"),
      ...seconds.map((second) => segment([xOf(second * 10), floor], [xOf(second * 10), floor + 6])),
      segment([LEFT, floor], [RIGHT, floor]),
    );
    for (const [bar, accepted, no] of bars) {
      const [x, wide] = [xOf(bar * BAR) + 0.5, xOf(BAR) - LEFT - 2];
      const [middle, top] = [level(accepted), Math.min(level(accepted + no), level(accepted) - 2)];
      if (accepted > 0) body.push(rect([x, middle], [wide, floor - middle], "ok"));
      if (no > 0) body.push(rect([x, top], [wide, middle - top], "no"));
    }
  }
  const told = rows.map(({ name, requests, refused, succeeded, failed, seconds: took }) => {
    const end = failed === 0 ? `all ${succeeded} calls succeed, in ${took} s` : `${failed} calls fail`;
    return `${name}: ${count(requests)} requests, ${count(refused)} refused, ${end}.`;
  });
  return {
    title: "300 issues created at once, with defaults",
    subtitle: `Limit (dashed): ${LIMIT} requests every 2 s. ${part("Accepted", "ok b")}, ${part("refused", "no b")}.`,
    alt: `300 issues created at once, while the service allows ${LIMIT} requests every 2 seconds. ${told.join(" ")}`,
    height: bottom + 38,
    body,
  };
}

function barsOf(series: Herd["series"]): [bar: number, accepted: number, refused: number][] {
  const bars = new Map<number, [number, number, number]>();
  for (const [step, accepted, refused] of series) {
    const at = Math.floor(step / BAR);
    const [, before = 0, refusedBefore = 0] = bars.get(at) ?? [];
    bars.set(at, [at, before + accepted, refusedBefore + refused]);
  }
  return [...bars.values()];
}
