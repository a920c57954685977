import type { Project } from "../models.ts";
import type { Paginator } from "../paging/paginator.ts";
import type { Send } from "../request/operation.ts";
import { pathOf } from "../request/url.ts";
import { projectPageValidator } from "../schemas/validators.ts";
import { type ListParams, listQuery } from "./inputs.ts";
import { type ListOptions, paginate } from "./list.ts";

/** Projects: `client.projects`. Methods work detached. Invalid arguments reject the first request of a list. */
export class Projects {
  readonly #send: Send;

  /** Not for callers: the client makes it. */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * The projects that the token may see: `GET /projects`, scope `projects:read`. Nothing is sent until the list is
   * consumed. An error of a walk carries the `cursor` of the page that failed.
   *
   * @param params the page size and where to start
   * @param options options of each page's call, and `prefetch`
   * @example
   * for await (const project of client.projects.list({ limit: 200 })) console.log(project.name);
   */
  list: (params?: ListParams, options?: ListOptions) => Paginator<Project> = (params, ...options) =>
    paginate(this.#send, "projects.list", () => ({
      path: pathOf("/projects"),
      query: listQuery(params),
      schema: projectPageValidator,
      scope: "projects:read",
      last: options,
    }));
}
