import type { PageRequest } from "../events.ts";
import { kindOf } from "../tally.ts";
import { make, onPress } from "./elements.ts";
import { markOf, pathOf, resultOf, statusOf, timeOf, tookOf } from "./words.ts";

interface Row {
  readonly element: HTMLTableRowElement;
  readonly link: HTMLAnchorElement;
  shown: PageRequest | undefined;
}

const COLUMNS = ["time", "status", "request", "result", "n", "token", "id"] as const;

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
  }

  /** Lets Tab come to one row: that with the focus, or the first that is seen. The others can be reached by j and k. */
  reach(): void {
    const links = this.#links();
    const seen = links.find((link) => link.getBoundingClientRect().top >= 0);
    const one = links.find((link) => link === document.activeElement) ?? seen;
    for (const link of links) link.tabIndex = link === one ? 0 : -1;
  }

  move(by: number): void {
    const links = this.#links();
    const current = links.indexOf(document.activeElement as HTMLAnchorElement); // −1 for any other element
    links[current < 0 ? 0 : Math.min(links.length - 1, Math.max(0, current + by))]?.focus();
  }

  focus(id: string): void {
    this.#rows.get(id)?.link.focus();
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
  row.link.ariaLabel = `${statusOf(request)}, ${resultOf(request)}, ${method} ${pathOf(request, baseUrl)}, ${id}`;
  const bearer = make("span", "", token?.name ?? "none");
  bearer.title = token?.id ?? "";
  const mark = make("span", "mark", markOf(request));
  const cells = [[timeOf(at)], [mark, statusOf(request)], [], [resultOf(request)], [tookOf(request)], [bearer], [id]];
  for (const [index, content] of cells.entries()) {
    if (content.length > 0) row.element.cells[index]?.replaceChildren(...content); // the link stays
  }
}
