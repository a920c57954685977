/** A picture: one SVG for light and dark pages, readable at the width of a telephone and at that of a page. */

export interface Picture {
  /** What the picture is of, in a few words: its heading, if it has a line below that. */
  readonly title: string;
  readonly subtitle?: string;
  /** What it says, with its numbers: the text for readers who do not see it. */
  readonly alt: string;
  readonly height: number;
  readonly css?: string;
  readonly body: readonly string[];
}

export const WIDTH = 800;
/** The margins. */
export const [LEFT, RIGHT] = [28, 772] as const;

/** Text is larger on a narrow screen: a picture fills its width, whatever that is. */
const CSS = `text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--fg);font-size:18px}
.h{font-size:24px;font-weight:650}.s{font-size:16.5px;fill:var(--muted)}.b{font-weight:650}.big{font-size:22px;font-weight:700}.m{text-anchor:middle}.e{text-anchor:end}
.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.ok{fill:var(--ok)}.no{fill:var(--no)}.blue{fill:var(--blue)}.amber{fill:var(--amber)}.soft{fill:var(--soft)}.line{stroke:var(--line);fill:none}.dash{stroke-dasharray:4 6}.whisker{stroke:var(--fg);stroke-width:2}.way{stroke:var(--muted);stroke-width:2;fill:none}.card{fill:var(--bg);stroke:var(--line)}.panel{fill:var(--panel);stroke:var(--line)}
svg{--bg:#fff;--panel:#f6f8fa;--fg:#1f2328;--muted:#59636e;--line:#d1d9e0;--soft:#c5ccd4;--ok:#1a7f37;--no:#cf222e;--blue:#0969da;--amber:#9a6700}
@media(max-width:560px){text{font-size:23px}.h{font-size:26px}.s{font-size:21.5px}.big{font-size:25px}}
@media(prefers-color-scheme:dark){svg{--bg:#0d1117;--panel:#151b23;--fg:#f0f6fc;--muted:#9198a1;--line:#3d444d;--soft:#4d5560;--ok:#3fb950;--no:#f85149;--blue:#4493f8;--amber:#d29922}}`;

export function svgOf({ title, subtitle, alt, height, css = "", body }: Picture): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="t d">`,
    `<title id="t">${escaped(title)}</title>`,
    `<desc id="d">${escaped(alt)}</desc>`,
    `<style>${CSS}${css}</style>`,
    `<rect class="card" x=".5" y=".5" width="${WIDTH - 1}" height="${height - 1}" rx="12"/>`,
    ...(subtitle === undefined
      ? []
      : [text([LEFT, 42], title, "h"), `<text x="${LEFT}" y="74" class="s">${subtitle}</text>`]),
    ...body,
    "</svg>\n",
  ].join("\n");
}

export type Point = readonly [x: number, y: number];

/** Text at a point. Classes: `h` heading, `s` secondary, `b` bold, `m` centred, `e` ending at the point, and colours. */
export function text([x, y]: Point, content: string, classes = ""): string {
  return `<text x="${short(x)}" y="${short(y)}"${classOf(classes)}>${escaped(content)}</text>`;
}

export function rect([x, y]: Point, [width, height]: Point, classes: string): string {
  const corner = classes.includes("round") ? ' rx="8"' : "";
  return `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"${corner}${classOf(classes)}/>`;
}

export function segment(from: Point, to: Point, classes = "line"): string {
  return `<polyline points="${[from, to].map((point) => point.map(short).join(",")).join(" ")}"${classOf(classes)} />`;
}

/** A part of a text, in other classes. */
export function part(content: string, classes: string): string {
  return `<tspan class="${classes}">${escaped(content)}</tspan>`;
}

export function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function short(value: number): string {
  return String(Number(value.toFixed(1)));
}

function classOf(classes: string): string {
  return classes === "" ? "" : ` class="${classes}"`;
}
