import type { AutomationError } from "../client/errors/automation-error.ts";
import { ArgumentError } from "../client/errors/classes.ts";

/** After so many in a row the address counts as wrong. */
const MOST_IN_A_ROW = 10;

const SHOWN_LENGTH = 100;

/** Counts the responses in a row that say that there is nothing at an address: 404 and 405. */
export class AddressRefusals {
  #inARow = 0;

  /** The service accepted or refused an item, so an address was right. */
  reset(): void {
    this.#inARow = 0;
  }

  /** Returns an error that names the address, once there have been too many. `url`: where `error` came from. */
  add(error: AutomationError, url: string | undefined): ArgumentError | undefined {
    this.#inARow += 1;
    if (this.#inARow < MOST_IN_A_ROW) return undefined;
    const { status, method, path = "", callId } = error;
    const values = url === undefined ? [] : valuesIn(path, url);
    const shown = values.map((value) => JSON.stringify(value.slice(0, SHOWN_LENGTH))).join(", ");
    const message = `${MOST_IN_A_ROW} responses in a row were ${status}, and no item was accepted: ${method} ${path}${shown && ` with ${shown}`}`;
    return new ArgumentError(message, { status, method, path, callId, outcome: "rejected", cause: error });
  }
}

/** The values in a URL where its path's template, `/projects/{project}/issues`, has a value. */
export function valuesIn(template: string, url: string): string[] {
  const segments = url.replace(/[?#].*$/, "").split("/");
  const names = template.split("/");
  return names.flatMap((name, index) => {
    const segment = segments[segments.length - names.length + index];
    return name.includes("{") && segment !== undefined ? [decoded(segment)] : [];
  });
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
