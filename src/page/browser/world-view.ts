import type { PageFault, PageTable, PageWorld } from "../events.ts";
import { make } from "./elements.ts";
import { numberOf, secondsOf } from "./words.ts";

type Token = PageWorld["tokens"]["newest"][number];

/** The tokens with what is left of their windows. A row is made anew only if its token has changed: what is open stays open. */
export class TokenList {
  readonly #list: HTMLElement;
  #rows: ReadonlyMap<string, { readonly element: HTMLElement; readonly told: string }> = new Map();

  constructor(section: HTMLElement) {
    this.#list = section.appendChild(make("ul", ""));
  }

  show({ tokens }: PageWorld, now: number): void {
    const rows = tokens.newest.map((token) => {
      const { id, window, ...fields } = token;
      const told = JSON.stringify(fields);
      const known = this.#rows.get(id);
      const row = known?.told === told ? known : { element: rowOf(token), told };
      row.element.querySelector(".window")?.replaceChildren(...windowOf(window, now));
      return [id, row] as const;
    });
    this.#rows = new Map(rows);
    const wanted = [...rows.map(([, { element }]) => element).reverse(), ...moreOf(tokens)];
    const shown = [...this.#list.children];
    if (wanted.length !== shown.length || wanted.some((one, index) => one !== shown[index]))
      this.#list.replaceChildren(...wanted);
  }
}

function rowOf({ id, name, scopes, owner, state, expires_at }: Token): HTMLElement {
  const told = state === "active" ? `active until ${expires_at.slice(0, 10)}` : state;
  const names = make("span", "mono", scopes.join(" ") || "no scopes");
  return make(
    "li",
    "",
    make("div", "two", make("b", "", name), make("code", "muted", id)),
    make("div", "window"),
    make("div", "muted", `${told}, owner ${owner}`),
    scopes.length > 3
      ? make("details", "", make("summary", "", `${scopes.length} scopes`), names)
      : make("div", "muted", names),
  );
}

function windowOf(window: Token["window"], now: number): readonly Node[] {
  if (window === undefined || window.endsAt <= now) return [];
  const { remaining, limit, endsAt } = window;
  const bar = make("i", "");
  bar.style.width = `${(100 * remaining) / Math.max(1, limit)}%`;
  const ends = make("span", "muted", `ends in ${secondsOf(endsAt - now)}`);
  return [
    make("div", remaining === 0 ? "meter out" : "meter", bar),
    make("div", "two", make("span", "", `${remaining} of ${limit} left`), ends),
  ];
}

export function showFaults(section: HTMLElement, faults: readonly PageFault[]): void {
  const rows = faults.map(({ does, operations, hits, times }) => {
    const where = make("span", "", operations?.join(", ") ?? "any request");
    const often = make("span", "", times === null ? `${hits} times so far` : `${hits} of ${times}`);
    return make("li", "", make("b", "", does), make("div", "two muted", where, often));
  });
  const none = make("li", "muted", "None. The letters f, d and l in the terminal add one.");
  section.querySelector("ul")?.replaceChildren(...(rows.length > 0 ? rows : [none]));
}

/** Shows the tables of the world, newest first. What the user has opened stays open. */
export function showWorld(section: HTMLElement, { projects, issues, sessions }: PageWorld): void {
  const show = <Row>(name: string, table: PageTable<Row>, cellsOf: (row: Row) => readonly string[]): void => {
    const part = partOf(section, name);
    part.firstElementChild?.replaceChildren(`${name} (${numberOf(table.count)})`);
    const items = table.newest.map((row) => {
      const [first = "", second = "", third = ""] = cellsOf(row);
      return make("li", "two", make("b", "", first), make("span", "", second), make("span", "muted", third));
    });
    part.lastElementChild?.replaceChildren(...items.reverse(), ...moreOf(table));
  };
  show("Projects", projects, (one) => [one.name, `${one.issues} issues, ${one.sessions} sessions`, one.id]);
  show("Issues", issues, (one) => [`${one.project} #${one.number}`, one.title, `${one.type}, ${one.status}`]);
  show("Sessions", sessions, ({ id, state, project }) => [id, state, project]);
}

function partOf(section: HTMLElement, name: string): HTMLDetailsElement {
  const known = section.querySelector<HTMLDetailsElement>(`#world-${name}`);
  if (known !== null) return known;
  const part = make("details", "", make("summary", ""), make("ul", ""));
  part.id = `world-${name}`;
  part.open = name === "Issues";
  section.append(part);
  return part;
}

function moreOf({ count, newest }: PageTable<unknown>): readonly HTMLElement[] {
  const rest = count - newest.length;
  return rest > 0 ? [make("li", "muted", `and ${numberOf(rest)} older ones`)] : [];
}
