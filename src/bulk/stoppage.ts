import { ArgumentError, type AutomationError, type ErrorDetails } from "../client/index.ts";
import { cut } from "../core/checks/foreign.ts";
import { isAboutAddress } from "./send-state.ts";

const SHOWN_LENGTH = 100;

/** The path of a request: its template, and the URL that was asked. */
export interface Address {
  readonly path: string;
  readonly url: string;
}

/**
 * The error that stops a run after so many failures: of the class of the last one, which is its `cause`. Where that
 * is about the address, the message names the template and the values in it.
 */
export function tooManyFailures(
  failures: number,
  last: AutomationError,
  address: Address | undefined,
): AutomationError {
  const count = failures === 1 ? "1 failure" : `${failures} failures (ten items that get through take back one)`;
  const where = address !== undefined && isAboutAddress(last) ? `: ${last.method} ${describe(address)}` : "";
  const message = `the run stopped after ${count}; the last one: ${last.message}${where}`;
  const Failure = Object.hasOwn(last.constructor, "kinds") ? (last.constructor as FailureClass) : ArgumentError; // a class of the library
  return new Failure(message, { ...last, cause: last });
}

type FailureClass = new (message: string, details: ErrorDetails) => AutomationError;

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
