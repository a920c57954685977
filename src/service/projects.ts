import type { Send } from "../core/call/send.ts";
import { invalid } from "../core/checks/invalid-input.ts";
import { parseValue, STRING } from "../core/checks/validators.ts";
import { describeValue, isObject, isPlainObject } from "../core/checks/values.ts";
import { type ListOptions, type ListParams, listQuery } from "../core/list.ts";
import type { Paginator } from "../core/paging/paginator.ts";
import { pathOf } from "../core/wire/path.ts";
import type { Service } from "../core/wire/service.ts";
import type { Project } from "./models.ts";
import { meetService, ownProjects, refuseForeign } from "./project-owners.ts";
import { projectPageValidator } from "./schemas/validators.ts";

/** A project as methods take it: its name, its id, or a record of it, whose id is then used. */
export type ProjectRef = string | Project | Pick<Project, "id">;

export function projectValue(project: ProjectRef, service: Service): string {
  if (typeof project === "string") return project;
  if (isObject(project) && "id" in project) {
    refuseForeign(project, service);
    return parseValue(project.id, "project.id", STRING);
  }
  const lack = isPlainObject(project) ? " without an id; the project is the first argument" : "";
  return invalid(`project must be a name, an id or a project, not ${describeValue(project)}${lack}`);
}

/** Projects: `client.projects`. Methods work detached. Invalid arguments reject the first request of a list. */
export class Projects {
  /**
   * The projects that the token may see: `GET /projects`, scope `projects:read`. Nothing is sent until the list is
   * consumed. An error of an iteration carries the `cursor` of the page that failed. As soon as the process has clients of two
   * services, a project of one is an `ArgumentError` in a call to another one: pass its name or its id.
   *
   * @param params the page size and where to start
   * @param options options of each page's call, and `prefetch`
   * @example
   * for await (const project of client.projects.list({ limit: 200 })) console.log(project.name);
   */
  list: (params?: ListParams, options?: ListOptions) => Paginator<Project>;

  /** @internal The client makes it. */
  constructor(send: Send) {
    meetService(send.service);
    this.list = send.list("projects.list", (params, options) => ({
      path: pathOf("/projects"),
      ...listQuery(params),
      schema: projectPageValidator,
      scope: "projects:read",
      options,
      received: (projects) => ownProjects(projects, send.service),
    }));
  }
}
