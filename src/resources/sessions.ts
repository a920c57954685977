import type { Session } from "../models.ts";
import type { Paginator } from "../paging/paginator.ts";
import type { CallOptions, Operation, Send } from "../request/operation.ts";
import { namedPath } from "../request/path.ts";
import { sessionValidator } from "../schemas/record-validators.ts";
import { type ListParams, listQuery, type ProjectRef, projectValue } from "./inputs.ts";
import { type ListOptions, paginate } from "./list.ts";
import { type PollSource, type WaitOptions, type WatchOptions, waitFor, watch } from "./session-poll.ts";

const SESSION = "/sessions/{id}";

/**
 * Agent sessions of projects: `client.sessions`. Methods work detached, and reject with errors of this package alone, or
 * with what `until` throws; invalid arguments are an `ArgumentError`, before anything is sent.
 */
export class Sessions {
  readonly #send: Send;
  readonly #totalTimeoutMs: number;

  /** Not for callers: the client makes it. */
  constructor(send: Send, totalTimeoutMs: number) {
    this.#send = send;
    this.#totalTimeoutMs = totalTimeoutMs;
  }

  /**
   * The sessions of a project: `GET /projects/{project}/sessions`, scope `sessions:read`. Nothing is sent until the list
   * is consumed.
   *
   * @param project the project's name or id, or a `Project`
   * @param params the page size and where to start
   * @param options options of each page's call, and `prefetch`
   * @example
   * for await (const { id, state } of client.sessions.list("web")) console.log(id, state);
   */
  list = (project: ProjectRef, params?: ListParams, options?: ListOptions): Paginator<Session> =>
    paginate(
      this.#send,
      () => ({
        name: "sessions.list",
        path: namedPath("sessions.list", "/projects/{project}/sessions", {
          project: projectValue(project, "sessions.list"),
        }),
        query: listQuery(params, "sessions.list"),
        item: sessionValidator,
        scope: "sessions:read",
      }),
      options,
    );

  /**
   * One session: `GET /sessions/{id}`, scope `sessions:read`.
   *
   * @param id the session's `id`
   * @param options options of this call
   * @example
   * const { state } = await client.sessions.get(id);
   */
  get = async (id: string, options?: CallOptions): Promise<Session> =>
    this.#send(() => getSession("sessions.get", id), options);

  /**
   * Polls a session until `until(session)` is true, and resolves with it. The contract does not list states, so the caller
   * says what ends the wait. Polls back off from `intervalMs` to `maxIntervalMs`, pass the rate limiter, and are retried
   * as any call is. `totalTimeoutMs` is for the whole wait.
   *
   * A wait outlasts outages: a poll that fails for a reason that may pass (connection, timeout of an attempt, 5xx, 408, rate
   * limit) is missed, and the wait goes on until `totalTimeoutMs`, or without one until ten minutes have brought no
   * response at all; a pause that the service asked for does not count. Every other failure ends it at once.
   *
   * @param id the session's `id`
   * @param options `until`, the intervals, and options of the polls
   * @returns the session for which `until` was true
   * @throws `TimeoutError`, phase `total`, when `totalTimeoutMs` is over; what `until` throws, as it is; else the error of
   * the poll. Each of the client's errors carries the last `session` seen.
   * @example
   * const done = await client.sessions.waitFor(id, { until: (session) => session.state !== "running" });
   */
  waitFor = async (id: string, options: WaitOptions): Promise<Session> =>
    waitFor(this.#polls("sessions.waitFor", id), options);

  /**
   * Yields a session as it is, and again whenever its `state` has changed; never ends by itself. `break` and the signal
   * end it at once. It polls, outlasts outages, and fails as `waitFor` does.
   *
   * @param id the session's `id`
   * @param options the intervals, and options of the polls
   * @example
   * for await (const { state } of client.sessions.watch(id)) if (state === "done") break;
   */
  watch = (id: string, options?: WatchOptions): AsyncIterable<Session> => ({
    [Symbol.asyncIterator]: () => watch(this.#polls("sessions.watch", id), options),
  });

  #polls(name: string, id: string): PollSource {
    return {
      name,
      path: SESSION,
      get: (options) => this.#send(() => getSession(name, id), options),
      totalTimeoutMs: this.#totalTimeoutMs,
    };
  }
}

function getSession(name: string, id: string): Operation<Session> {
  return {
    name,
    method: "GET",
    path: namedPath(name, SESSION, { id }),
    schema: sessionValidator,
    answer: "json",
    scope: "sessions:read",
  };
}
