import { figuresOf } from "./results.ts";
import { LEFT, type Picture, part, RIGHT, rect, text } from "./svg.ts";

interface Explored {
  readonly right: number;
  readonly told: number;
  readonly wrong: number;
}

/** The program in the results, its label, and its name in a sentence. */
const ROWS = [
  ["a retry loop", "a retry loop", "A retry loop"],
  ["Promise.allSettled", "Promise.allSettled", "Promise.allSettled"],
  ["bulkWrite with a journal", "bulkWrite with a journal", "bulkWrite with a journal"],
] as const;
const [TOP, PITCH, COLUMNS, GAP] = [100, 148, 28, 5];

/** What each request that fails once does to three programs: a square for each run. */
export function explore(): Picture {
  const rows = ROWS.map(([name, label, told]) => ({ ...figuresOf<Explored>("explore", name), label, name: told }));
  const step = (RIGHT - LEFT + GAP) / COLUMNS;
  const body: string[] = [];
  for (const [at, { label, wrong, told, right }] of rows.entries()) {
    const y = TOP + at * PITCH;
    body.push(
      text([LEFT, y + 24], label, "b"),
      text([RIGHT, y + 24], `${wrong} wrong`, `big e ${wrong === 0 ? "ok" : "no"}`),
    );
    const squares = [
      ...Array<string>(wrong).fill("no"),
      ...Array<string>(told).fill("amber"),
      ...Array<string>(right).fill("ok"),
    ];
    for (const [place, colour] of squares.entries()) {
      const [column, row] = [place % COLUMNS, Math.floor(place / COLUMNS)];
      body.push(rect([LEFT + column * step, y + 42 + row * step], [step - GAP, step - GAP], colour));
    }
  }
  const told = rows.map(
    (row) => `${row.name}: ${row.right} right, ${row.told} say that they are not done, ${row.wrong} wrong.`,
  );
  return {
    title: "12 issues; each request fails once in each of seven ways",
    subtitle: `${part("Right", "ok b")}, ${part("says that it is not done", "amber b")}, ${part("wrong: twice or lost", "no b")}.`,
    alt: `Three programs create 12 issues, and each request fails once in each of seven ways. ${told.join(" ")}`,
    height: TOP + PITCH * rows.length + 10,
    body,
  };
}
