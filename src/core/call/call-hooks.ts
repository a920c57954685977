import type { AnyAutomationError } from "../errors/classes.ts";
import type { Service } from "../wire/base-url.ts";
import type { Fate, Step } from "./fate.ts";

/** A call as hooks see it. */
export interface HookedCall {
  /** The id in events and errors. */
  readonly callId: string;
  /** Such as `"issues.create"`. */
  readonly operation: string;
  readonly method: string;
  /** The template of the path. */
  readonly path: string;
  readonly service: Service;
  /** The URL that is asked, with the values of the path. */
  readonly url: string;
}

/** The end of a call: the status of its latest response, and the error that it rejects with, or what it resolves with. */
export interface HookedEnd {
  readonly status: number | undefined;
  readonly error: AnyAutomationError | undefined;
  readonly output?: unknown;
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
  /** Awaited when the turn of a request has come, and again with another token. What it throws ends the call as it is. */
  beforeRequest?(call: HookedCall, token: string): Promise<void>;
  /** A step of the call has changed its fate. The call may go on. */
  noted?(call: HookedCall, fate: Fate, step: Step): void;
  /** The call is over. */
  end?(call: HookedCall, end: HookedEnd): void;
}

/** The method of a client that derives one with hooks. Every copy of this package (ESM, CommonJS) knows it by this name. */
export const WITH_HOOKS: unique symbol = Symbol.for("project-automation.with-hooks") as never; // a registered symbol is shared by all copies

/** Marks an error that a bulk run reports: its promise may be forgotten. Every copy of this package knows it by this name. */
export const REPORTED: unique symbol = Symbol.for("project-automation.reported") as never; // a registered symbol is shared by all copies

/** The rules by which a client waits before it tries again: those of its `retry` option that are durations. */
export interface WaitRules {
  readonly minDelayMs?: number;
  readonly maxDelayMs?: number;
  readonly maxRetryAfterMs: number;
}
