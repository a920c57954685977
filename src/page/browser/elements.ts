export function find<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind; // page.html has it, and the tests open that
}

export function onPress(element: HTMLElement, listener: (event: MouseEvent) => unknown): void {
  element.addEventListener("click", listener);
}

/** Makes an element. What the service was sent comes in as text alone, and never as markup. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (className !== "") made.className = className;
  made.append(...children);
  return made;
}
