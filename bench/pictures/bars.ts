/** The plots of the performance page. */

import { figuresOf, type Measured, result } from "./results.ts";
import { LEFT, type Picture, part, RIGHT, rect, segment, text } from "./svg.ts";

type Spread = readonly [low: number, median: number, high: number];

const OURS = "project-automation";
const boldOf = (name: string): string => (name === OURS ? "b" : "");

/** Time that a call adds to `fetch`. */
export function overhead(): Picture {
  const of = (kind: string, name: string): Spread =>
    figuresOf<Record<string, Spread>>(`per-call-${kind}`, name)["µs over fetch"] ?? [0, 0, 0];
  const rows = ["ky", "ky + zod/mini", "octokit", "openai", OURS]
    .map((name) => ({ name, get: of("get", name), post: of("post", name) }))
    .sort((one, other) => one.get[1] - other.get[1]);
  const xOf = (value: number): number =>
    300 + (380 * value) / Math.max(...rows.flatMap(({ get, post }) => [get[2], post[2]]));
  const bar = (y: number, [low, median, high]: Spread, classes: string): string[] => [
    rect([300, y], [xOf(median) - 300, 26], classes),
    segment([xOf(low), y + 13], [xOf(high), y + 13], "whisker"),
    text([xOf(Math.max(high, median)) + 12, y + 20], median.toFixed(0)),
  ];
  const body = rows.flatMap(({ name, get, post }, at) => [
    text([LEFT, 138 + at * 76], name, boldOf(name)),
    ...bar(102 + at * 76, get, "blue"),
    ...bar(132 + at * 76, post, "ok"),
  ]);
  const told = rows.map(({ name, get, post }) => `${name} ${get[1].toFixed(0)} and ${post[1].toFixed(0)}`);
  return {
    title: "Time that a call adds to fetch",
    subtitle: `µs in process: ${part("GET", "blue b")} and ${part("POST", "ok b")}; the thin lines are quartiles`,
    alt: `Time that a call in process adds to fetch, in µs for a GET and a POST: ${told.join(", ")}.`,
    height: 116 + rows.length * 76,
    body,
  };
}

interface Size {
  readonly gzipped: number;
  readonly "ky and p-retry"?: number;
  readonly zod?: number;
  readonly "own code"?: number;
}

/** The size of a program; of ours, also its parts. */
export function size(): Picture {
  const clients = Object.entries(result<Measured<Size>>("size").clients);
  const rows = clients.sort(([, one], [, other]) => one.gzipped - other.gzipped);
  const most = rows.at(-1)?.[1].gzipped ?? 0;
  const body: string[] = [];
  let y = 98;
  let split = "";
  for (const [name, { gzipped, "ky and p-retry": http = 0, zod = 0, "own code": own = 0 }] of rows) {
    const parts = [
      ["ky and p-retry", http, "amber"],
      ["zod", zod, "ok"],
      ["own code", own, "blue"],
    ] as const;
    let x = 300;
    for (const [, kb, colour] of name === OURS ? parts : [["", gzipped, "soft"] as const]) {
      body.push(rect([x, y], [(400 * kb) / most, 38], colour));
      x += (400 * kb) / most;
    }
    body.push(text([LEFT, y + 27], name, boldOf(name)), text([x + 12, y + 27], gzipped.toFixed(1), boldOf(name)));
    y += 52;
    if (name !== OURS) continue;
    split = parts.map(([label, kb]) => `${label} ${kb.toFixed(1)}`).join(", ");
    const told = parts.map(([label, kb, colour]) => part(`${label} ${kb.toFixed(1)}`, `${colour} b`)).join(" + ");
    body.push(`<text x="${RIGHT}" y="${y + 10}" class="s e">${told}</text>`);
    y += 34;
  }
  const told = rows.map(([name, { gzipped }]) => `${name} ${gzipped.toFixed(1)}${name === OURS ? ` (${split})` : ""}`);
  return {
    title: "Size of a program that lists one page",
    subtitle: "kB, bundled, minified and gzipped",
    alt: `Size of a program that lists one page, in kB minified and gzipped: ${told.join(", ")}.`,
    height: y + 10,
    body,
  };
}
