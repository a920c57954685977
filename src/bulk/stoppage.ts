import type { AutomationError } from "../client/index.ts";
import { cut } from "../core/checks/values.ts";
import { isAboutAddress } from "./send-state.ts";

const SHOWN_LENGTH = 100;

export interface Address {
  readonly path: string;
  readonly url: string;
}

/** Where the last one is about the address, the values in that are named. */
export function afterFailures(failures: number, last: AutomationError, address: Address | undefined): string {
  const count = failures === 1 ? "1 failure" : `${failures} failures (ten items that get through take back one)`;
  const where = address !== undefined && isAboutAddress(last) ? `: ${last.method} ${describe(address)}` : "";
  return `Stopped after ${count}; the last one: ${last.message}${where}`;
}

function describe({ path, url }: Address): string {
  const shown = valuesIn(path, url).map((value) => JSON.stringify(cut(value, SHOWN_LENGTH)));
  return shown.length === 0 ? path : `${path} with ${shown.join(", ")}`;
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
