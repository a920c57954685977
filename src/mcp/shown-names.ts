import type { Client } from "../client/client.ts";
import { ArgumentError } from "../core/errors/classes.ts";
import { quoted, visible } from "./foreign-text.ts";

const MOST_NAMES = 10_000;

const names = new WeakMap<Client, ShownNames>();

/**
 * The projects whose names a model has read without some of their characters. Such a name may be the whole name of another
 * project, so it addresses none.
 */
export class ShownNames {
  readonly #ids = new Map<string, string>();

  static of(client: Client): ShownNames {
    const known = names.get(client) ?? new ShownNames();
    names.set(client, known);
    return known;
  }

  note(projects: readonly { readonly id: string; readonly name: string }[]): void {
    for (const { id, name } of projects) {
      const shown = visible(name);
      if (shown === name) continue;
      this.#ids.delete(shown);
      this.#ids.set(shown, id);
      const [oldest] = this.#ids.keys();
      if (this.#ids.size > MOST_NAMES && oldest !== undefined) this.#ids.delete(oldest);
    }
  }

  /** Returns the argument. @throws ArgumentError if it is a name that was shown in place of another one. */
  project(argument: string): string {
    const id = this.#ids.get(argument);
    if (id === undefined) return argument;
    const message = `project ${quoted(argument)} is the name of a project without its invisible characters, and perhaps that of another one: pass the id, ${quoted(id)} for the first`;
    throw new ArgumentError(message, { outcome: "not_sent" });
  }
}
