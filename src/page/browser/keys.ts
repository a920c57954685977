import { find, onPress } from "./elements.ts";

export interface Actions {
  readonly stop: () => void;
  /** Before Tab moves the focus. */
  readonly reach: () => void;
  readonly move: (by: number) => void;
  readonly filter: () => void;
  /** Leaves the field of the filter, which is empty then. */
  readonly clear: () => void;
  readonly failed: () => void;
  readonly back: () => void;
}

/** Elements that take the space themselves. */
const PRESSED = "button, summary";

export function listenToKeys(actions: Actions): void {
  const help = find<HTMLDialogElement>("help");
  const keys: Readonly<Record<string, () => void>> = {
    " ": actions.stop,
    "/": actions.filter,
    f: actions.failed,
    j: () => actions.move(1),
    k: () => actions.move(-1),
    Escape: actions.back,
    "?": () => help.showModal(),
  };
  onPress(find("help-open"), () => help.showModal());
  onPress(find("help-close"), () => help.close());
  document.addEventListener("keydown", (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || help.open || !(target instanceof HTMLElement)) return;
    if (key === "Tab") actions.reach();
    if (target instanceof HTMLInputElement) {
      if (key === "Escape") actions.clear();
      return;
    }
    const isInList = target.closest("#rows") !== null;
    const name = isInList ? ({ ArrowDown: "j", ArrowUp: "k" }[key] ?? key) : key;
    if (key === " " && target.matches(PRESSED)) return;
    if (!Object.hasOwn(keys, name)) return;
    event.preventDefault();
    keys[name]?.();
  });
}
