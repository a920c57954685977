import type { InnerInstrumentation } from "../instrumentation.ts";
import { Redactor } from "../secrets/redact.ts";
import type { Context } from "./settings.ts";

/** The member of a client for other parts of the package. Every copy of the package (ESM, CommonJS) knows it by this name. */
export const INTERNALS: unique symbol = Symbol.for("project-automation.internals"); // a registered symbol is shared by all copies

export interface Internals<Client> {
  /** A function, since the token is in it: who looks through a client finds none. */
  context(): Context;
  instrumented(inner: InnerInstrumentation): Client;
}

export function internalsOf<Client>(client: Client): Internals<Client> | undefined {
  return (client as { readonly [INTERNALS]?: Internals<Client> } | null | undefined)?.[INTERNALS]; // any value can be asked
}

export function redactorOf({ tokenSource, headers }: Pick<Context, "tokenSource" | "headers">): Redactor {
  return new Redactor({ tokens: [tokenSource.current], headers });
}
