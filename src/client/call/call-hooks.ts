import type { AnyAutomationError } from "../errors/classes.ts";

/** A call as hooks see it. */
export interface HookedCall {
  /** The id in events and errors. */
  readonly callId: string;
  /** Such as `"issues.create"`. */
  readonly operation: string;
  readonly method: string;
  /** The template of the path. */
  readonly path: string;
  /** The URL that is asked, with the values of the path. */
  readonly url: string;
}

/** The end of a call: the status of its latest response, and the error that it rejects with. */
export interface HookedEnd {
  readonly status: number | undefined;
  readonly error: AnyAutomationError | undefined;
}

/**
 * Hooks of the package itself under each call of a derived client, and of all clients derived from that. They see calls
 * below the caller's own `onRequest` and `onResponse`.
 */
export interface CallHooks {
  /** Ends each call, as the caller's signal does. */
  readonly signal?: AbortSignal | undefined;
  /** A call begins, with valid arguments. An error of this library that it throws ends the call; nothing is sent. */
  begin?(call: HookedCall): void;
  /** Awaited before each request, with nothing left between it and the wire. What it throws ends the call as it is. */
  beforeRequest?(call: HookedCall): Promise<void>;
  /** A request was answered 429: the service has rejected it. */
  rejected?(call: HookedCall): void;
  /** The call is over. */
  end?(call: HookedCall, end: HookedEnd): void;
}

/** The method of a client that derives one with hooks. Every copy of this package (ESM, CommonJS) knows it by this name. */
export const WITH_HOOKS: unique symbol = Symbol.for("project-automation.with-hooks") as never; // a registered symbol is shared by all copies

/** A client that can be derived with hooks; `undefined` for anything else. */
export function hookable<Client>(client: Client): ((hooks: CallHooks) => Client) | undefined {
  const derive = (client as { readonly [WITH_HOOKS]?: unknown } | null | undefined)?.[WITH_HOOKS]; // any value can be asked
  return typeof derive === "function"
    ? (hooks) => (derive as (hooks: CallHooks) => Client).call(client, hooks)
    : undefined; // the name says what it is
}
