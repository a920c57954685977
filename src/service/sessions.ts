import type { ApiPromise } from "../core/call/api-promise.ts";
import type { CallOptions } from "../core/call/call-options.ts";
import type { Send } from "../core/call/send.ts";
import { parseCallOptions } from "../core/call/settings.ts";
import { captureCaller, withCallerStack } from "../core/errors/caller-stack.ts";
import { type ListOptions, type ListParams, listQuery } from "../core/list.ts";
import type { Paginator } from "../core/paging/paginator.ts";
import { batchIterator, lazyWalk } from "../core/paging/walk.ts";
import { pathOf } from "../core/wire/path.ts";
import type { Session } from "./models.ts";
import { type ProjectRef, projectValue } from "./projects.ts";
import { sessionPageValidator } from "./schemas/validators.ts";
import { getSession } from "./session-poll.ts";
import { type WaitOptions, type WatchOptions, waitFor, watch } from "./session-waits.ts";

/**
 * Agent sessions of projects: `client.sessions`. Methods work detached, and reject with errors of this package alone, or
 * with what `until` throws; invalid arguments are an `ArgumentError`, before anything is sent.
 */
export class Sessions {
  readonly #send: Send;

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
  list: (project: ProjectRef, params?: ListParams, options?: ListOptions) => Paginator<Session>;

  /**
   * One session: `GET /sessions/{id}`, scope `sessions:read`.
   *
   * @param id the session's `id`
   * @param options options of this call
   * @example
   * const { state } = await client.sessions.get(id);
   */
  get: (id: string, options?: CallOptions) => ApiPromise<Session>;

  /** @internal The client makes it. */
  constructor(send: Send) {
    this.#send = send;
    this.list = send.list("sessions.list", (project, params, options) => ({
      path: pathOf("/projects/{project}/sessions", { project: projectValue(project, send.service) }),
      ...listQuery(params),
      schema: sessionPageValidator,
      scope: "sessions:read",
      options,
    }));
    this.get = send.method("sessions.get", (id, options) => getSession(id, parseCallOptions(options)));
  }

  /**
   * Polls a session until `until(session)` is true, and resolves with it. The API documentation does not list states, so
   * you say what ends the wait. Polls back off from `intervalMs` to `maxIntervalMs`, pass the rate limiter, and are retried
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
  waitFor: (id: string, options: WaitOptions) => Promise<Session> = (id, options) =>
    withCallerStack(this.waitFor, () => waitFor(this.#send, id, options));

  /**
   * Yields a session as it is, and again whenever its `state` has changed; never ends by itself. `break` and the signal
   * end it at once. It polls, outlasts outages, and fails as `waitFor` does.
   *
   * @param id the session's `id`
   * @param options the intervals, and options of the polls
   * @example
   * for await (const { state } of client.sessions.watch(id)) if (state === "done") break;
   */
  watch: (id: string, options?: WatchOptions) => AsyncGenerator<Session, void, undefined> = (id, options) => {
    const changes = watch(this.#send, id, options);
    const toCaller = captureCaller(this.watch);
    return lazyWalk(() => batchIterator(changes, (session) => [session], toCaller));
  };
}
