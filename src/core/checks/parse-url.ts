import { tagOf } from "./foreign.ts";

/** A URL, against a base where one is given; `undefined` for a text that is none. */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** The text of a URL object, of whatever realm; any other value as it is. */
export function textOfUrl(value: unknown): unknown {
  return tagOf(value) === "URL" ? String(value) : value;
}
