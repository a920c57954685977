/** Calls that tests make. */
import { type CallOptions, type Client, isAutomationError } from "../../src/client/index.ts";
import type { ScriptedFetch } from "./scripted-fetch.ts";

export function createIssue(client: Client, options: CallOptions = {}): Promise<unknown> {
  return client.issues.create("web", { title: "Title", type: "bug" }, options);
}

export function revoke(client: Client, options: CallOptions = {}): Promise<unknown> {
  return client.tokens.revoke("tok_1", options);
}

export function rotate(client: Client, options: CallOptions = {}): Promise<unknown> {
  return client.tokens.rotate("tok_1", options);
}

/** A call that can be distinguished from others: call n requests session n. */
export function get(client: Client, number: number, options: CallOptions = {}): Promise<unknown> {
  return client.sessions.get(String(number), options);
}

/** Many calls at once: calls 0 to `size - 1`, in this order. */
export function herd(client: Client, size: number): Promise<unknown>[] {
  return Array.from({ length: size }, (_, number) => get(client, number));
}

/** The numbers of the calls that were sent, in the order of sending. */
export function numbers(service: ScriptedFetch): number[] {
  return service.sent.map(({ url }) => Number(url.split("/").at(-1)));
}

/** The kinds of error that calls ended with; `undefined` for those that succeeded. */
export function kinds(settled: readonly { error: unknown }[]): unknown[] {
  return settled.map(({ error }) => (isAutomationError(error) ? error.kind : error));
}
