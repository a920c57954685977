import type { EventFields, PageEvent, PollEvent } from "../events.ts";
import type { Deadline } from "../time/deadline.ts";
import type { FetchFunction } from "../wire/http-request.ts";
import type { Method } from "../wire/method.ts";
import { encodePath, type Path } from "../wire/path.ts";
import type { Success } from "./api-promise.ts";
import type { ParsedCallOptions } from "./settings.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** One operation of the service as data: the request, the caller's options, and the shape of the response. */
export interface Operation<Output> {
  readonly name: string;
  /** The operation in messages: its name, or for a custom request the method and the path. */
  readonly label: string;
  readonly method: Method;
  readonly path: Path;
  /** Encoded. */
  readonly query?: string;
  readonly json?: unknown;
  /** Names in the query and the body that the method sends itself, or may send. Without it, the call takes no `extra`. */
  readonly fields?: readonly string[] | undefined;
  /** The schema of the response's body; without one the body is handed over as parsed. */
  readonly schema?: StandardSchema<Output> | undefined;
  readonly lenientSchema?: StandardSchema | undefined;
  /**
   * The treatment of the body of the service's 2xx. Omitted: it must be JSON, or empty where there is no schema.
   * `"json_if_any"`: it resolves `undefined` unless it is whole JSON. `"nothing"`: it resolves `undefined`.
   */
  readonly expects?: "json_if_any" | "nothing" | undefined;
  /** It looks whether something has changed, so a cache must not answer it. */
  readonly isPoll?: boolean | undefined;
  readonly scope?: string | undefined;
  /** The advice on a 403, where it is another one; `detail` is the service's sentence. */
  readonly adviceOn403?: ((detail: string | undefined) => string | undefined) | undefined;
  readonly options: ParsedCallOptions;
}

export type OperationFields<Output> = Omit<Operation<Output>, "name" | "label"> & { readonly label?: string };

export interface Origin<Output> {
  /** Ends the call with the wait or the walk that it is a part of. */
  readonly outer?: Deadline | undefined;
  /** Takes the output, and the time that the call waited, in milliseconds. Returns the event of a wait or a walk. */
  readonly progress?: ((output: Output, waitedMs: number) => EventFields<PageEvent | PollEvent>) | undefined;
  /** The global `fetch` as it was when the method was called, where that was before now. */
  readonly fetch?: FetchFunction | undefined;
}

/** Sends operations: a client, as walks and polls know it. */
export interface Caller {
  /**
   * Sends an operation through the whole call path. `name` is the operation's, such as `"issues.create"`. Checks belong in
   * `describe`: an invalid argument rejects the call, in the operation's name.
   */
  call<Output>(
    name: string,
    describe: () => OperationFields<Output>,
    origin?: Origin<Output>,
  ): Promise<Success<Output>>;
  parse<Result>(name: string, read: () => Result): Result;
  /** `true` if a text holds a token that the client knows. */
  holdsToken(text: string): boolean;
}

/** `true` for an operation that replaces a token, by `tokens.rotate` or by `client.request`: sent twice, it may leave a dead one. */
export function rotatesToken({ path }: Pick<Operation<unknown>, "path">): boolean {
  return /^\/me\/tokens\/[^/]+\/rotate\/?$/.test(encodePath(path));
}
