import type { ApiPromise } from "../core/call/api-promise.ts";
import type { CallOptions } from "../core/call/call-options.ts";
import type { Send } from "../core/call/send.ts";
import { parseCallOptions } from "../core/call/settings.ts";
import { parseOptions, required, type Shape, STRING } from "../core/checks/validators.ts";
import { pathOf } from "../core/wire/path.ts";
import type { Issue, IssueType } from "./models.ts";
import { type ProjectRef, projectValue } from "./projects.ts";
import { issueValidator } from "./schemas/validators.ts";

/** A new issue. */
export interface IssueCreateInput {
  /** A line on what is wrong or wanted; not empty, or the service refuses it. */
  title: string;
  /** `bug`, or another type that the service knows. */
  type: IssueType;
}

const CREATE_INPUT = { title: required(STRING), type: required(STRING) } satisfies Shape<IssueCreateInput>;

/**
 * Issues of projects: `client.issues`. Methods work detached, and reject with errors of this package alone; invalid
 * arguments are an `ArgumentError`, before anything is sent.
 */
export class Issues {
  /**
   * Creates an issue: `POST /projects/{project}/issues`, scope `issues:write`. The request is sent again only if the
   * service has certainly not processed it (429, 401 with another token at hand, never connected). The `outcome` of an
   * error tells whether the issue may exist.
   *
   * @param project the project's name or id, or a `Project`
   * @param input the issue; other fields are refused: pass them in `json` of `options.extra`
   * @param options options of this call
   * @returns the issue as the service sent it
   * @example
   * const issue = await client.issues.create("web", { title: "Login fails", type: "bug" });
   */
  create: (project: ProjectRef, input: IssueCreateInput, options?: CallOptions) => ApiPromise<Issue>;

  /** @internal The client makes it. */
  constructor(send: Send) {
    this.create = send.method("issues.create", (project, input, options) => ({
      method: "POST",
      path: pathOf("/projects/{project}/issues", { project: projectValue(project, send.service) }),
      json: parseOptions(input, "input", CREATE_INPUT),
      fields: Object.keys(CREATE_INPUT),
      schema: issueValidator,
      scope: "issues:write",
      options: parseCallOptions(options),
    }));
  }
}
