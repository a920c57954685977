import { Redactor } from "../secrets/redact.ts";
import { type CallHooks, type WaitRules, WITH_HOOKS } from "./call-hooks.ts";
import { type ClientContext, DEFAULT_RETRY } from "./settings.ts";

/** The parts of a client that other parts of the package ask for. */
export type ClientParts = Pick<
  ClientContext,
  "baseUrl" | "fetch" | "headers" | "hooks" | "retry" | "say" | "tokenSource"
>;

/** Derives a client with hooks, and knows the parts of the client that it derives from. */
export interface DeriveWithHooks<Client> {
  (hooks: CallHooks): Client;
  /** A function, since the token is in it: who looks through a client finds none. */
  readonly parts: () => ClientParts;
}

/** Returns the function that derives a client with hooks; `undefined` for anything but a client. */
export function hookable<Client>(client: Client): DeriveWithHooks<Client> | undefined {
  const derive = (client as { readonly [WITH_HOOKS]?: unknown } | null | undefined)?.[WITH_HOOKS]; // any value can be asked
  return typeof derive === "function" ? (derive as DeriveWithHooks<Client>) : undefined; // the name says what it is
}

/** Takes the secrets of a client out of texts. */
export function redactorOf({ tokenSource, headers }: ClientParts): Redactor {
  return new Redactor({ tokens: [tokenSource.current], headers });
}

/** The rules by which a client waits; the defaults if it does not retry. */
export function rulesOf({ retry }: ClientParts): WaitRules {
  return retry || DEFAULT_RETRY;
}
