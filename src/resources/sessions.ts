import type { Session } from "../models.ts";
import type { Paginator } from "../paging/paginator.ts";
import type { CallOptions, Operation, Send } from "../request/operation.ts";
import { path } from "../request/path.ts";
import { sessionValidator } from "../schemas/record-validators.ts";
import { type ListParams, listQuery, type ProjectRef, projectSegment, segment } from "./inputs.ts";
import { type ListOptions, paginate } from "./list.ts";
import { type PollSource, type WaitOptions, type WatchOptions, waitFor, watch } from "./session-poll.ts";

/**
 * Agent sessions of projects. Had as `client.sessions`; methods work detached. They reject with errors of this package
 * and, from `until`, of yours; what is wrong with arguments is an `ArgumentError`, before anything is sent.
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
   * @example
   * for await (const { id, state } of client.sessions.list("web")) console.log(id, state);
   */
  list = (project: ProjectRef, params?: ListParams, options?: ListOptions): Paginator<Session> =>
    paginate(
      this.#send,
      () => ({
        name: "sessions.list",
        path: path`/projects/${projectSegment(project, "sessions.list")}/sessions`,
        query: listQuery(params, "sessions.list"),
        item: sessionValidator,
        scope: "sessions:read",
      }),
      options,
    );

  /** One session: `GET /sessions/{id}`, scope `sessions:read`. */
  get = async (id: string, options?: CallOptions): Promise<Session> =>
    this.#send(() => getSession("sessions.get", id), options);

  /**
   * Asks for a session until `until(session)` is true, and resolves with it. The contract does not list states, so the
   * caller says what ends the wait. Polls back off from `intervalMs` to `maxIntervalMs`, pass the rate limiter, and are
   * retried as any call is. `totalTimeoutMs` is for the whole wait: it rejects with `TimeoutError`, phase `total`, with
   * the last `session` seen. What `until` throws rejects the call as it is.
   *
   * @example
   * const done = await client.sessions.waitFor(id, { until: (session) => session.state !== "running" });
   */
  waitFor = async (id: string, options: WaitOptions): Promise<Session> =>
    waitFor(this.#polls("sessions.waitFor", id), options);

  /**
   * Yields a session as it is, and again whenever its `state` has changed; never ends by itself. `break` and the signal
   * end it at once.
   *
   * @example
   * for await (const { state } of client.sessions.watch(id)) if (state === "done") break;
   */
  watch = (id: string, options?: WatchOptions): AsyncIterable<Session> => ({
    [Symbol.asyncIterator]: () => watch(this.#polls("sessions.watch", id), options),
  });

  #polls(name: string, id: string): PollSource {
    return {
      name,
      get: (options) => this.#send(() => getSession(name, id), options),
      totalTimeoutMs: this.#totalTimeoutMs,
    };
  }
}

function getSession(name: string, id: string): Operation<Session> {
  return {
    name,
    method: "GET",
    path: path`/sessions/${segment(id, `${name}: id`)}`,
    schema: sessionValidator,
    answer: "json",
    scope: "sessions:read",
  };
}
