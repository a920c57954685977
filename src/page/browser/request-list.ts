import type { PageRequest } from "../events.ts";
import { kindOf } from "../tally.ts";
import { make, onPress } from "./elements.ts";
import { fateOf, markOf, pathOf, statusOf, timeOf, tookOf } from "./words.ts";

interface Row {
  readonly element: HTMLTableRowElement;
  readonly link: HTMLAnchorElement;
  shown: PageRequest | undefined;
}

const COLUMNS = ["time", "status", "request", "fate", "n", "token", "id"] as const;

/** The table of requests. Its rows stay the same elements, so that the focus and the eye keep their place. */
export class RequestList {
  readonly #body: HTMLElement;
  readonly #hrefOf: (id: string) => string;
  readonly #rows = new Map<string, Row>();

  constructor(body: HTMLElement, hrefOf: (id: string) => string) {
    this.#body = body;
    this.#hrefOf = hrefOf;
  }

  show(requests: readonly PageRequest[], { open, baseUrl }: { readonly open: string; readonly baseUrl: string }): void {
    const ids = new Set(requests.map(({ id }) => id));
    for (const [id, { element }] of this.#rows) {
      if (ids.has(id)) continue;
      element.remove();
      this.#rows.delete(id);
    }
    let next = this.#body.firstElementChild;
    for (const request of requests) {
      const row = this.#rows.get(request.id) ?? this.#add(request.id);
      if (row.shown !== request) fill(row, request, baseUrl);
      row.link.href = this.#hrefOf(request.id);
      row.element.ariaCurrent = String(request.id === open);
      if (row.element === next) next = next.nextElementSibling;
      else this.#body.insertBefore(row.element, next);
    }
    // One of the links can be reached by Tab, the others by j and k.
    const links = this.#links();
    if (!links.some(({ tabIndex }) => tabIndex === 0)) links[0]?.setAttribute("tabindex", "0");
  }

  move(by: number): void {
    const links = this.#links();
    const current = links.indexOf(document.activeElement as HTMLAnchorElement); // −1 for any other element
    this.#focus(links[current < 0 ? 0 : Math.min(links.length - 1, Math.max(0, current + by))]);
  }

  focus(id: string): void {
    this.#focus(this.#rows.get(id)?.link);
  }

  #focus(link: HTMLAnchorElement | undefined): void {
    if (link === undefined) return;
    for (const other of this.#links()) other.tabIndex = -1;
    link.tabIndex = 0;
    link.focus();
  }

  #links(): readonly HTMLAnchorElement[] {
    return Array.from(this.#body.querySelectorAll("a"));
  }

  #add(id: string): Row {
    const link = make("a", "mono");
    link.tabIndex = -1;
    const cells = COLUMNS.map((name) => make("td", name));
    cells[2]?.append(link);
    const element = make("tr", "", ...cells);
    onPress(element, ({ target }) => {
      if (target !== link && !link.contains(target as Node) && getSelection()?.isCollapsed) link.click();
    });
    const row: Row = { element, link, shown: undefined };
    this.#rows.set(id, row);
    return row;
  }
}

function fill(row: Row, request: PageRequest, baseUrl: string): void {
  const { method, at, id, token } = request;
  const kind = kindOf(request) ?? "pending";
  row.shown = request;
  row.element.className = kind;
  row.link.replaceChildren(make("b", "", method), ` ${pathOf(request, baseUrl)}`);
  row.link.setAttribute(
    "aria-label",
    `${statusOf(request)}, ${fateOf(request)}, ${method} ${pathOf(request, baseUrl)}, ${id}`,
  );
  const bearer = make("span", "", token?.name ?? "none");
  bearer.title = token?.id ?? "";
  const mark = make("span", "mark", markOf(request));
  const cells = [[timeOf(at)], [mark, statusOf(request)], [], [fateOf(request)], [tookOf(request)], [bearer], [id]];
  for (const [index, content] of cells.entries()) {
    if (content.length > 0) row.element.cells[index]?.replaceChildren(...content); // the link stays
  }
}
