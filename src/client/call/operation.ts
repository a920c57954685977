import type { Permit } from "../rate-limit/rate-limiter.ts";
import type { StandardSchema } from "../schemas/validators.ts";
import type { Scope } from "../scopes.ts";
import { encodePath, type Path } from "./path.ts";
import type { CheckedOptions } from "./settings.ts";

/** HTTP methods that the client sends. */
export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One operation of the service as data: what to send, with which options, and what to make of the response. */
export interface Operation<Output> {
  /** Such as `"issues.create"`. */
  readonly name: string;
  readonly method: Method;
  readonly path: Path;
  /** Encoded. */
  readonly query?: string;
  /** The request's body. */
  readonly json?: unknown;
  /** Names in the query and the body that the method sends itself, or may send. Without it, the call takes no `extra`. */
  readonly fields?: readonly string[] | undefined;
  /** The schema of the response's body; without one it is handed over as parsed. */
  readonly schema?: StandardSchema<Output> | undefined;
  /** The schema that holds even where validation is lenient. */
  readonly lenientSchema?: StandardSchema | undefined;
  /**
   * How a 2xx body is treated. Omitted: it must be JSON, or may be empty where there is no schema. `"json_if_any"`: a body
   * that is not JSON resolves `undefined`. `"nothing"`: every body does.
   */
  readonly expects?: "json_if_any" | "nothing" | undefined;
  /** The scope that the contract asks for, as a hint in refusals. */
  readonly scope?: Scope | undefined;
  /** The walk that its output is a page of. */
  readonly walk?: Walk | undefined;
  /** The end of the wait or the walk that the call is a part of. */
  readonly within?: AbortSignal | undefined;
  /** What it is sent with in place of a permit of its own: it waits in no queue. */
  readonly permit?: Permit | undefined;
  /** The `plaintext` of the output becomes the client's token. */
  readonly adopts?: boolean | undefined;
  /** The caller's options, checked. */
  readonly options: CheckedOptions;
}

/** What a walk has come to so far. Each of its calls adds its page, and how long it has waited. */
export interface Walk {
  pages: number;
  items: number;
  waitedMs: number;
}

/** What resources get of the client, and nothing else. `name` is the operation's, such as `"issues.create"`. */
export interface Send {
  /**
   * Sends an operation through the whole request path. Checks belong in `describe`: what it refuses rejects the call, in the
   * operation's name.
   */
  <Output>(name: string, describe: () => Omit<Operation<Output>, "name">): Promise<Output>;
  /** Checks what is needed before there is anything to send. Throws what a call would reject with. */
  readonly check: <Result>(name: string, read: () => Result) => Result;
  /** A short text of the service as errors show it, without secrets. */
  readonly short: (text: string) => string | undefined;
  /** That of calls without one of their own. */
  readonly totalTimeoutMs: number;
}

/** What errors call an operation: one that is not documented by what is sent. */
export function labelOf({ name, method, path }: Pick<Operation<unknown>, "name" | "method" | "path">): string {
  return name.includes(".") ? name : `${method} ${path.template}`;
}

/** Whether an operation changes something, so that sending it twice might matter. */
export function isWrite({ method }: { readonly method: string }): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** Whether an operation replaces a token, by `tokens.rotate` or by `client.request`: sent twice, it may leave a dead one. */
export function rotatesToken({ path }: Pick<Operation<unknown>, "path">): boolean {
  return /^\/me\/tokens\/[^/]+\/rotate\/?$/.test(encodePath(path));
}
