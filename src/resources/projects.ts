import type { Project } from "../models.ts";
import type { Paginator } from "../paging/paginator.ts";
import type { Send } from "../request/operation.ts";
import { path } from "../request/path.ts";
import { projectValidator } from "../schemas/record-validators.ts";
import { type ListParams, listQuery } from "./inputs.ts";
import { type ListOptions, paginate } from "./list.ts";

/** Projects. Had as `client.projects`; methods work detached. What is wrong with arguments is told when a walk begins. */
export class Projects {
  readonly #send: Send;

  /** Not for callers: the client makes it. */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * The projects that the token may see: `GET /projects`, scope `projects:read`. Nothing is sent until the list is
   * consumed. Walks reject with any error of the client, with the failed page's `cursor` on it.
   *
   * @example
   * for await (const project of client.projects.list({ limit: 200 })) console.log(project.name);
   */
  list = (params?: ListParams, options?: ListOptions): Paginator<Project> =>
    paginate(
      this.#send,
      () => ({
        name: "projects.list",
        path: path`/projects`,
        query: listQuery(params, "projects.list"),
        item: projectValidator,
        scope: "projects:read",
      }),
      options,
    );
}
