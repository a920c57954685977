/** The plots of the performance page. */

import { count, figuresOf, type Measured, result } from "./results.ts";
import { line, type Picture, type Point, rect, segment, text } from "./svg.ts";

type Spread = readonly [low: number, median: number, high: number];

const OURS = "project-automation";
const LEFT = 28;

/** Time that a call adds to `fetch`. */
export function overhead(): Picture {
  const figure = "µs over fetch";
  const of = (kind: string, name: string): Spread =>
    figuresOf<Record<string, Spread>>(`per-call-${kind}`, name)[figure] ?? [0, 0, 0];
  const rows = ["ky", "ky + zod/mini", "octokit", "openai", OURS]
    .map((name) => ({ name, get: of("get", name), post: of("post", name) }))
    .sort((one, other) => one.get[1] - other.get[1]);
  const most = Math.max(...rows.flatMap(({ get, post }) => [get[2], post[2]]));
  const xOf = (value: number): number => 300 + (380 * value) / most;
  const body = [
    text([LEFT, 42], "Time that a call adds to fetch", "h"),
    `<text x="${LEFT}" y="74" class="s">µs in process: <tspan class="blue b">GET</tspan> and <tspan class="ok b">POST</tspan>; the thin lines are quartiles</text>`,
  ];
  for (const [at, { name, get, post }] of rows.entries()) {
    const y = 100 + at * 76;
    body.push(text([LEFT, y + 38], name, name === OURS ? "b" : ""));
    for (const [offset, [low, median, high], colour] of [
      [2, get, "blue"],
      [32, post, "ok"],
    ] as const) {
      body.push(
        rect([300, y + offset], [xOf(median) - 300, 26], colour),
        segment([xOf(low), y + offset + 13], [xOf(high), y + offset + 13], "whisker"),
        text([xOf(Math.max(high, median)) + 12, y + offset + 20], median.toFixed(0), name === OURS ? "b" : ""),
      );
    }
  }
  const told = rows.map(({ name, get, post }) => `${name} ${get[1].toFixed(0)} and ${post[1].toFixed(0)} µs`);
  const alt = `Time that a call in process adds to fetch, for a GET and a POST: ${told.join(", ")}.`;
  return { title: "Time that a call adds to fetch", alt, height: 100 + rows.length * 76 + 16, body };
}

interface Size {
  readonly gzipped: number;
  readonly "ky and p-retry"?: number;
  readonly zod?: number;
  readonly "own code"?: number;
}

/** The size of a program; of ours, also its parts. */
export function size(): Picture {
  const rows = Object.entries(result<Measured<Size>>("size").clients).sort(
    ([, one], [, other]) => one.gzipped - other.gzipped,
  );
  const most = Math.max(...rows.map(([, { gzipped }]) => gzipped));
  const wide = (kb: number): number => (420 * kb) / most;
  const parts = (["ky and p-retry", "zod", "own code"] as const).map((part, at) => {
    const kb = figuresOf<Size>("size", OURS)[part] ?? 0;
    return { part, kb, colour: ["amber", "soft", "blue"][at] ?? "" };
  });
  const body = [
    text([LEFT, 42], "Size of a program that lists one page", "h"),
    text([LEFT, 74], "kB, bundled, minified and gzipped", "s"),
  ];
  let y = 98;
  for (const [name, { gzipped }] of rows) {
    body.push(text([LEFT, y + 27], name, name === OURS ? "b" : ""));
    let x = 280;
    for (const { kb, colour } of name === OURS ? parts : [{ kb: gzipped, colour: "mute" }]) {
      body.push(rect([x, y], [wide(kb), 38], colour));
      x += wide(kb);
    }
    body.push(text([x + 12, y + 27], gzipped.toFixed(1), name === OURS ? "b" : ""));
    y += 52;
    if (name !== OURS) continue;
    const spans = parts.map(
      ({ part, kb, colour }) => `<tspan class="${colour === "soft" ? "" : colour} b">${part} ${kb.toFixed(1)}</tspan>`,
    );
    body.push(`<text x="280" y="${y + 10}" class="s">${spans.join(" + ")}</text>`);
    y += 34;
  }
  const split = parts.map(({ part, kb }) => `${part} ${kb.toFixed(1)}`).join(", ");
  const told = rows.map(([name, { gzipped }]) => `${name} ${gzipped.toFixed(1)}${name === OURS ? ` (${split})` : ""}`);
  const alt = `Size of a program that lists one page, in kB minified and gzipped: ${told.join(", ")}.`;
  return { title: "Size of a program that lists one page", alt, height: y + 10, body };
}

interface Memory {
  readonly heap: readonly number[];
  readonly "heap growth": Spread;
}

/** The heap during a walk of a million items, beside a program that keeps them. */
export function memory(): Picture {
  const of = (name: string): Memory => figuresOf<Memory>("memory", name);
  const [ours, kept] = [of(OURS), of("fetch, every item kept")];
  const most = Math.ceil(Math.max(...kept.heap) / 50) * 50;
  const [top, bottom, left, right] = [106, 376, 84, 756];
  const yOf = (mb: number): number => bottom - ((bottom - top) * mb) / most;
  const at = ({ heap }: Memory): Point[] =>
    heap.map((mb, look) => [left + ((right - left) * (look + 1)) / heap.length, yOf(mb)]);
  const thick = (colour: string) => `fill="none" stroke="var(--${colour})" stroke-width="4" stroke-linejoin="round"`;
  const [now, growth, keptMb] = [ours.heap.at(-1) ?? 0, ours["heap growth"][1], kept.heap.at(-1) ?? 0];
  const marks = [0, most / 2, most];
  const body = [
    text([LEFT, 42], "Memory of a walk over 1,000,000 items", "h"),
    text([LEFT, 74], "heap in use, in MB", "s"),
    ...marks.flatMap((mb) => [
      segment([left, yOf(mb)], [right, yOf(mb)]),
      text([left - 12, yOf(mb) + 6], count(mb), "s e"),
    ]),
    ...[0, 0.5, 1].map((share) =>
      text(
        [left + (right - left) * share, bottom + 32],
        share === 0 ? "0" : `${count(share * 1e6)} items`,
        share === 0 ? "s m" : "s e",
      ),
    ),
    line(at(kept), "", thick("soft")),
    line(at(ours), "", thick("blue")),
    text([right - 200, yOf(keptMb * 0.82)], `kept in an array: ${keptMb.toFixed(0)}`, "e mute"),
    text([right, yOf(now) - 18], `${OURS}: ${now.toFixed(0)}, flat`, "e b blue"),
  ];
  const alt = `Heap during a walk over 1,000,000 items: this client stays at ${now.toFixed(0)} MB (growth ${growth.toFixed(1)} MB); a loop that keeps every item in an array ends at ${keptMb.toFixed(0)} MB.`;
  return { title: "Memory of a walk over 1,000,000 items", alt, height: bottom + 54, body };
}
