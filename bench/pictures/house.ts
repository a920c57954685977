import { arrow, type Picture, type Point, rect, text } from "./svg.ts";

const PRODUCTS = ["bulk", "doctor", "mcp", "opentelemetry", "redis", "testing"];
/** The stages of a call in `client/call/`, from the method to the wire. */
const STAGES = [
  ["resources/", "an operation is data"],
  ["call/send", "options, events"],
  ["call/retry", "repeats what may pass"],
  ["call/attempt", "token and rate limit"],
  ["call/exchange", "one request, one reply"],
  ["call/http", "fetch, by ky"],
] as const;

export function house(): Picture {
  const body: string[] = [];
  const room = ([x, y]: Point, [wide, high]: Point, label: string): void => {
    body.push(rect([x, y], [wide, high], "panel round"), text([x + wide / 2, y + high / 2 + 8], label, "b m code"));
  };
  room([28, 64], [744, 46], "bin.ts → command/");
  for (const [at, name] of PRODUCTS.entries())
    room([28 + (at % 3) * 252, 122 + Math.floor(at / 3) * 58], [240, 46], `${name}/`);
  body.push(
    arrow([400, 254], "down", "M400 228V246"),
    text([418, 250], "import the client", "s"),
    rect([28, 258], [744, 486], "panel round"),
    text([46, 294], "client/", "b code"),
    text([754, 294], "imports none of them", "s e"),
  );
  for (const [at, [name, does]] of STAGES.entries()) {
    const y = 314 + at * 70;
    body.push(
      rect([46, y], [496, 52], "card round"),
      text([62, y + 34], name, "b code blue"),
      text([256, y + 34], does, "s"),
      ...(at < STAGES.length - 1 ? [arrow([112, y + 69], "down", `M112 ${y + 52}v10`)] : []),
    );
  }
  const side = (y: number, name: string, does: string): string[] => [
    rect([584, y], [170, 84], "card round"),
    text([669, y + 36], name, "b m code blue"),
    text([669, y + 66], does, "s m"),
  ];
  body.push(...side(456, "token/", "which token"), ...side(556, "rate-limit/", "when to go"));
  body.push(arrow([583, 498], "right", "M542 542H562V498H576"), arrow([583, 598], "right", "M542 556H562V598H576"));
  const way = STAGES.map(([name]) => `client/${name}`).join(", ");
  const alt = `The rooms of src/: ${PRODUCTS.join(", ")} import client/, which imports none of them; bin.ts and command/ are on top. A call goes through ${way}; its attempt asks client/token/ and client/rate-limit/.`;
  return { title: "The rooms of src/, and the way of a call", subtitle: "", alt, height: 766, body };
}
