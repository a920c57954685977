import type { Counts, Fate } from "../../src/page/events.ts";
import { kindOf } from "../../src/page/tally.ts";
import { count, result } from "./results.ts";
import { escaped, LEFT, type Picture, part, RIGHT, rect, segment, text } from "./svg.ts";

/** Recorded by `record-page.ts`; times in ms from the end. */
export interface RecordedPage {
  readonly limit: number;
  readonly windowMs: number;
  readonly counts: Counts;
  readonly steps: readonly (Counts & { readonly at: number })[];
  readonly pauses: readonly { readonly from: number; readonly until: number }[];
  readonly requests: readonly {
    readonly id: string;
    readonly url: string;
    readonly status: string;
    readonly fate: Fate;
  }[];
}

const CSS = `svg{--lost:#7a45d9}.lost{fill:var(--lost)}.band{fill:var(--amber);opacity:.14}
@media(max-width:560px){.id{display:none}}
@media(prefers-color-scheme:dark){svg{--lost:#ab7df8}}`;
const KINDS = [
  ["accepted", "●", "accepted", "ok"],
  ["refused", "▲", "refused", "amber"],
  ["failed", "✕", "failed", "no"],
  ["lost", "◆", "answer lost", "lost"],
] as const;
/** From the bottom up. */
const STACKED = ["accepted", "lost", "failed", "refused"] as const;
const FATES = {
  pending: "",
  answered: "carried out and answered",
  lost: "carried out, answer lost",
  not_carried_out: "not carried out",
};
const [TOP, FLOOR, ROWS, PITCH] = [124, 254, 318, 34] as const;
const SECOND = 1_000;
/** Steps of 100 ms in a bar. */
const WIDE = 200;

/** The page of the emulator, as it shows a run. */
export function page(): Picture {
  const { limit, windowMs, counts, steps, pauses, requests } = result<RecordedPage>("page-live");
  const span = Math.ceil((50 - (steps[0]?.at ?? 0)) / SECOND) * SECOND;
  const xOf = (at: number): number => RIGHT + ((RIGHT - LEFT) * at) / span;
  const bars = new Map<number, Record<(typeof STACKED)[number], number>>();
  for (const step of steps) {
    const at = Math.floor(step.at / WIDE) * WIDE;
    const bar = bars.get(at) ?? { accepted: 0, refused: 0, failed: 0, lost: 0 };
    for (const kind of STACKED) bar[kind] += step[kind];
    bars.set(at, bar);
  }
  const most = Math.max(
    limit,
    ...Array.from(bars.values(), (bar) => STACKED.reduce((sum, kind) => sum + bar[kind], 0)),
  );
  const level = (some: number): number => FLOOR - (some * (FLOOR - TOP)) / most;
  const colourOf = (kind: string): string => KINDS.find(([name]) => name === kind)?.[3] ?? "";
  const body: string[] = [
    `<text x="${RIGHT}" y="42" class="s e"><tspan class="ok">●</tspan> live</text>`,
    ...pauses.map(({ from, until }) => rect([xOf(from), TOP - 8], [xOf(until) - xOf(from), FLOOR - TOP + 8], "band")),
    segment([LEFT, level(limit)], [RIGHT, level(limit)], "line dash"),
    text([LEFT, TOP - 14], `limit ${limit} in ${windowMs / SECOND} s`, "s"),
  ];
  for (const [at, bar] of bars) {
    const [x, wide] = [xOf(at), xOf(WIDE) - xOf(0) - 2];
    let base = 0;
    for (const kind of STACKED) {
      if (bar[kind] === 0) continue;
      const low = level(base);
      base += bar[kind];
      const high = Math.min(level(base), low - 3);
      body.push(rect([x, high], [wide, low - high], colourOf(kind)));
      if (kind === "lost") body.push(text([x + wide / 2, TOP - 14], "◆", "m lost"));
    }
  }
  body.push(segment([LEFT, FLOOR], [RIGHT, FLOOR]));
  for (let ago = 0; ago <= span - SECOND; ago += 2 * SECOND) {
    const label = ago === 0 ? "now" : `−${ago / SECOND} s`;
    body.push(
      segment([xOf(-ago), FLOOR], [xOf(-ago), FLOOR + 6]),
      text([xOf(-ago), FLOOR + 26], label, ago === 0 ? "s e" : "s m"),
    );
  }
  for (const [at, { id, url, status, fate }] of [...requests].reverse().entries()) {
    const y = ROWS + at * PITCH;
    const kind = kindOf({ fate, status: Number(status) || 0 });
    const [, mark = "", , colour = ""] = KINDS.find(([name]) => name === kind) ?? [];
    body.push(
      segment([LEFT, y - 24], [RIGHT, y - 24]),
      `<text x="${LEFT}" y="${y}" class="s"><tspan class="${colour}">${mark}</tspan> ${escaped(status)}</text>`,
      text([152, y], url.replace("/api/v1", ""), "s code"),
      text([424, y], FATES[fate], `s ${kind === "accepted" ? "" : `b ${colour}`}`),
      text([RIGHT, y], id, "s e id"),
    );
  }
  const told = KINDS.map(([kind, , name]) => `${count(counts[kind])} ${name}`).join(", ");
  return {
    title: "The page of the emulator",
    subtitle: KINDS.map(([kind, mark, name, colour]) =>
      part(`${mark} ${count(counts[kind])} ${name}`, `${colour} b`),
    ).join("\u00a0\u00a0 "),
    alt: `The page of the emulator, live: ${told}. The issue of the lost answer was carried out.`,
    height: ROWS + requests.length * PITCH - 6,
    css: CSS,
    body,
  };
}
