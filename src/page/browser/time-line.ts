import type { Counts, Pause } from "../events.ts";
import { MINUTE_MS, NOTHING, STEP_MS, sumOf } from "../tally.ts";
import { secondsOf } from "./words.ts";

type Bar = Counts & { readonly at: number };

export interface Line {
  readonly now: number;
  readonly steps: readonly Bar[];
  readonly pauses: readonly Pause[];
  /** Requests per token and window; `null` if nothing is limited. */
  readonly limit: number | null;
}

const STACKED = ["accepted", "lost", "failed", "refused"] as const;
const NARROWEST_BAR = 4;
const [ABOVE, BELOW] = [20, 20] as const;

export function barsOf(steps: readonly Bar[], wide: number): readonly Bar[] {
  const bars = new Map<number, Bar>();
  for (const step of steps) {
    const at = Math.floor(step.at / wide) * wide;
    bars.set(at, { ...sumOf([bars.get(at) ?? NOTHING, step]), at });
  }
  return [...bars.values()];
}

const heightOf = ({ accepted, refused, failed, lost }: Counts): number => accepted + refused + failed + lost;

/** The canvas at its size in CSS pixels, and the colours of the page. */
interface Sheet {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  readonly colour: (name: string) => string;
}

interface Scale {
  readonly xOf: (at: number) => number;
  readonly yOf: (count: number) => number;
  readonly floor: number;
}

/** Draws the last minute: accepted at the bottom, the others above, so that a colour is not all that tells them apart. */
export function draw(canvas: HTMLCanvasElement, { now, steps, pauses, limit }: Line): void {
  const sheet = sheetOf(canvas);
  if (sheet === undefined) return;
  const { width, height } = sheet;
  const wide = Math.ceil((NARROWEST_BAR * MINUTE_MS) / width / STEP_MS) * STEP_MS;
  const bars = barsOf(steps, wide);
  const most = Math.max(8, ...bars.map(heightOf));
  const isInView = limit !== null && limit <= 2 * most;
  const top = isInView ? Math.max(most, limit) : most;
  const floor = height - BELOW;
  const xOf = (at: number): number => width * (1 - (now - at) / MINUTE_MS);
  const yOf = (count: number): number => floor - (count * (floor - ABOVE)) / top;
  const scale = { xOf, yOf, floor };

  drawPauses(sheet, scale, pauses);
  const span = Math.max(1, (width * wide) / MINUTE_MS - 1);
  for (const bar of bars) drawBar(sheet, scale, { bar, span });
  drawRule(sheet, floor + 0.5, []);
  if (limit !== null) drawRule(sheet, isInView ? Math.round(yOf(limit)) + 0.5 : ABOVE - 6.5, [4, 6]);
  if (limit !== null && !isInView) write(sheet, "↑ limit", { x: 0, y: ABOVE - 9 });
  drawTimes(sheet, scale, now);
}

/** Fits the canvas to the pixels of the screen, and empties it. */
function sheetOf(canvas: HTMLCanvasElement): Sheet | undefined {
  const context = canvas.getContext("2d");
  if (context === null) return undefined;
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = devicePixelRatio;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const style = getComputedStyle(canvas);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `12px ${style.fontFamily}`;
  return { context, width, height, colour: (name) => style.getPropertyValue(`--${name}`) };
}

function drawPauses(sheet: Sheet, { xOf, floor }: Scale, pauses: readonly Pause[]): void {
  const { context, width, colour } = sheet;
  for (const { from, until } of pauses) {
    const [left, right] = [Math.max(0, xOf(from)), Math.min(width, xOf(until))];
    if (right <= left) continue;
    context.fillStyle = colour("refused");
    context.globalAlpha = 0.14;
    context.fillRect(left, ABOVE, right - left, floor - ABOVE);
    context.globalAlpha = 1;
    context.strokeStyle = colour("refused");
    context.strokeRect(left + 0.5, ABOVE, 0.01, floor - ABOVE);
    if (right - left > 64) write(sheet, `pause ${secondsOf(until - from)}`, { x: left + 6, y: ABOVE + 14 });
  }
}

function drawBar({ context, colour }: Sheet, { xOf, yOf }: Scale, { bar, span }: { bar: Bar; span: number }): void {
  const x = xOf(bar.at);
  let base = 0;
  for (const kind of STACKED) {
    if (bar[kind] === 0) continue;
    const low = yOf(base);
    base += bar[kind];
    const high = Math.min(yOf(base), low - 2);
    context.fillStyle = colour(kind);
    context.strokeStyle = colour(kind);
    if (kind === "refused") context.strokeRect(x + 0.5, high + 0.5, span - 1, low - high - 1);
    else context.fillRect(x, high, span, low - high);
    const mark = kind === "lost" ? "◆" : kind === "failed" ? "✕" : "";
    if (mark !== "") context.fillText(mark, x + span / 2 - 5, yOf(heightOf(bar)) - 4);
  }
}

function drawRule({ context, width, colour }: Sheet, y: number, dashes: readonly number[]): void {
  context.strokeStyle = colour(dashes.length > 0 ? "muted" : "line");
  context.setLineDash([...dashes]);
  context.beginPath();
  context.moveTo(0, y);
  context.lineTo(width, y);
  context.stroke();
  context.setLineDash([]);
}

function drawTimes(sheet: Sheet, { xOf, floor }: Scale, now: number): void {
  const { context, width, height, colour } = sheet;
  const every = width < 500 ? 20_000 : 10_000;
  context.textAlign = "center";
  for (let ago = every; ago < MINUTE_MS; ago += every) {
    const x = xOf(now - ago);
    context.fillStyle = colour("line");
    context.fillRect(x, floor, 1, 5);
    write(sheet, `−${ago / 1000} s`, { x, y: height - 3 });
  }
  context.textAlign = "right";
  write(sheet, "now", { x: width, y: height - 3 });
  context.textAlign = "left";
}

function write({ context, colour }: Sheet, text: string, { x, y }: { x: number; y: number }): void {
  context.fillStyle = colour("muted");
  context.fillText(text, x, y);
}
