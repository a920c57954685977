import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { arrow, type Picture, type Point, rect, text } from "./svg.ts";

const SRC = join(import.meta.dirname, "../../src");
const NO_PRODUCTS = ["client", "command", "core", "files", "service", "testing"];
const PRODUCTS = readdirSync(SRC, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !NO_PRODUCTS.includes(entry.name))
  .map(({ name }) => name)
  .sort();
const ON_THE_CLIENT = PRODUCTS.filter((room) =>
  globSync(`${SRC}/${room}/**/*.ts`).some((file) =>
    /from "[./]+\/client\/(?:client|index)\.ts"/.test(readFileSync(file, "utf8")),
  ),
);
/** The products that do not know the client. */
const BESIDE_IT = PRODUCTS.filter((room) => !ON_THE_CLIENT.includes(room));
/** The stages of a call in `core/call/`, from the method to the wire. */
const STAGES = [
  ["send", "options, events"],
  ["retry", "repeats what may pass"],
  ["attempt", "token and rate limit"],
  ["exchange", "one request, one reply"],
  ["http", "fetch, by ky"],
] as const;

export function house(): Picture {
  const body: string[] = [];
  const room = ([x, y]: Point, [wide, high]: Point, label: string): void => {
    body.push(rect([x, y], [wide, high], "panel round"), text([x + wide / 2, y + high / 2 + 8], label, "b m code"));
  };
  const hall = ([y, wide]: Point, name: string, does: string): void => {
    body.push(
      rect([28, y], [wide, 46], "panel round"),
      text([46, y + 31], name, "b code"),
      text([wide + 10, y + 31], does, "s e"),
    );
  };
  room([28, 64], [744, 46], "bin.ts → command/");
  for (const [at, name] of ON_THE_CLIENT.entries())
    room([28 + (at % 2) * 252, 122 + Math.floor(at / 2) * 58], [240, 46], `${name}/`);
  for (const [at, name] of BESIDE_IT.entries()) room([532, 122 + at * 46], [240, 40], `${name}/`);
  body.push(arrow([274, 254], "down", "M274 228V246"), arrow([652, 330], "down", "M652 304V322"));
  hall([258, 492], "client/", "joins the two below");
  body.push(arrow([274, 330], "down", "M274 304V322"));
  hall([334, 744], "service/", "an operation is data");
  body.push(
    arrow([400, 406], "down", "M400 380V398"),
    rect([28, 410], [744, 406], "panel round"),
    text([46, 444], "core/", "b code"),
    text([754, 444], "knows no endpoint", "s e"),
  );
  for (const [at, [name, does]] of STAGES.entries()) {
    const y = 462 + at * 70;
    body.push(
      rect([46, y], [496, 52], "card round"),
      text([62, y + 34], `call/${name}`, "b code blue"),
      text([256, y + 34], does, "s"),
      ...(at < STAGES.length - 1 ? [arrow([112, y + 69], "down", `M112 ${y + 52}v10`)] : []),
    );
  }
  const side = (y: number, name: string, does: string): string[] => [
    rect([584, y], [170, 84], "card round"),
    text([669, y + 36], name, "b m code blue"),
    text([669, y + 66], does, "s m"),
  ];
  body.push(...side(536, "token/", "which token"), ...side(636, "rate-limit/", "when to go"));
  body.push(arrow([583, 578], "right", "M542 622H562V578H576"), arrow([583, 678], "right", "M542 636H562V678H576"));
  const way = STAGES.map(([name]) => `core/call/${name}`).join(", ");
  const alt = `The rooms of src/: ${ON_THE_CLIENT.join(", ")} import client/; ${BESIDE_IT.join(", ")} stand beside it, on service/ and core/; bin.ts and command/ are on top. client/ imports no product. It joins service/ and core/; core/ imports neither. A call goes through service/, ${way}; its attempt asks core/token/ and core/rate-limit/.`;
  return { title: "The rooms of src/, and the way of a call", subtitle: "", alt, height: 838, body };
}
