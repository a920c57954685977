import type { Counts, Pause } from "../events.ts";
import { MINUTE_MS, STEP_MS } from "../tally.ts";
import { secondsOf } from "./words.ts";

/** The minute that is drawn. */
export interface Line {
  readonly now: number;
  readonly steps: readonly (Counts & { readonly at: number })[];
  readonly pauses: readonly Pause[];
  /** Requests per token and window; `null` if nothing is limited. */
  readonly limit: number | null;
}

/** From the bottom up. */
const STACKED = ["accepted", "lost", "failed", "refused"] as const;
const NARROWEST_BAR = 4;
const [ABOVE, BELOW] = [20, 20] as const;

/** Adds up the steps that share a bar. */
export function barsOf(steps: Line["steps"], wide: number): readonly (Counts & { readonly at: number })[] {
  const bars = new Map<number, { -readonly [Kind in keyof Line["steps"][number]]: number }>();
  for (const step of steps) {
    const at = Math.floor(step.at / wide) * wide;
    const bar = bars.get(at);
    if (bar === undefined) bars.set(at, { ...step, at });
    else for (const kind of STACKED) bar[kind] += step[kind];
  }
  return [...bars.values()];
}

const sumOf = ({ accepted, refused, failed, lost }: Counts): number => accepted + refused + failed + lost;

/** Draws the last minute: accepted at the bottom, the others above, so that a colour is not all that tells them apart. */
export function draw(canvas: HTMLCanvasElement, { now, steps, pauses, limit }: Line): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = devicePixelRatio;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const style = getComputedStyle(canvas);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `12px ${style.fontFamily}`;

  const xOf = (at: number): number => width * (1 - (now - at) / MINUTE_MS);
  const wide = Math.ceil((NARROWEST_BAR * MINUTE_MS) / width / STEP_MS) * STEP_MS;
  const bars = barsOf(steps, wide);
  const most = Math.max(8, ...bars.map(sumOf));
  const isInView = limit !== null && limit <= 2 * most;
  const top = isInView ? Math.max(most, limit) : most;
  const floor = height - BELOW;
  const level = (count: number): number => floor - (count * (floor - ABOVE)) / top;
  const write = (text: string, x: number, y: number): void => {
    context.fillStyle = colour("muted");
    context.fillText(text, x, y);
  };
  const rule = (y: number, dashes: readonly number[]): void => {
    context.strokeStyle = colour(dashes.length > 0 ? "muted" : "line");
    context.setLineDash([...dashes]);
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
    context.setLineDash([]);
  };

  for (const { from, until } of pauses) {
    const [left, right] = [Math.max(0, xOf(from)), Math.min(width, xOf(until))];
    if (right <= left) continue;
    context.fillStyle = colour("refused");
    context.globalAlpha = 0.14;
    context.fillRect(left, ABOVE, right - left, floor - ABOVE);
    context.globalAlpha = 1;
    context.strokeStyle = colour("refused");
    context.strokeRect(left + 0.5, ABOVE, 0.01, floor - ABOVE);
    if (right - left > 64) write(`pause ${secondsOf(until - from)}`, left + 6, ABOVE + 14);
  }

  const span = Math.max(1, (width * wide) / MINUTE_MS - 1);
  for (const { at, ...counts } of bars) {
    const x = xOf(at);
    let base = 0;
    for (const kind of STACKED) {
      if (counts[kind] === 0) continue;
      const low = level(base);
      base += counts[kind];
      const high = Math.min(level(base), low - 2);
      context.fillStyle = colour(kind);
      context.strokeStyle = colour(kind);
      if (kind === "refused") context.strokeRect(x + 0.5, high + 0.5, span - 1, low - high - 1);
      else context.fillRect(x, high, span, low - high);
      const mark = kind === "lost" ? "◆" : kind === "failed" ? "✕" : "";
      if (mark !== "") context.fillText(mark, x + span / 2 - 5, level(sumOf(counts)) - 4);
    }
  }

  rule(floor + 0.5, []);
  if (limit !== null) rule(isInView ? Math.round(level(limit)) + 0.5 : ABOVE - 6.5, [4, 6]);
  if (limit !== null && !isInView) write("↑ limit", 0, ABOVE - 9);
  const every = width < 500 ? 20_000 : 10_000;
  for (let ago = every; ago < MINUTE_MS; ago += every) {
    const x = xOf(now - ago);
    context.fillStyle = colour("line");
    context.fillRect(x, floor, 1, 5);
    context.textAlign = "center";
    write(`−${ago / 1000} s`, x, height - 3);
  }
  context.textAlign = "right";
  write("now", width, height - 3);
  context.textAlign = "left";
}
