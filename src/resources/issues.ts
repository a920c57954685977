import { argument } from "../check.ts";
import type { Issue, IssueType } from "../models.ts";
import type { CallOptions, Operation, Send } from "../request/operation.ts";
import { path } from "../request/path.ts";
import { issueValidator } from "../schemas/record-validators.ts";
import { type ProjectRef, projectSegment, REQUIRED_STRING } from "./inputs.ts";

/** A new issue. */
export interface IssueCreateInput {
  /** What it is about; not empty, or the service refuses it. */
  title: string;
  /** `bug`, or another type that the service knows. */
  type: IssueType;
}

/**
 * Issues of projects. Had as `client.issues`; methods work detached. They reject with errors of this package and nothing
 * else; what is wrong with arguments is an `ArgumentError`, before anything is sent.
 */
export class Issues {
  readonly #send: Send;

  /** Not for callers: the client makes it. */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Creates an issue: `POST /projects/{project}/issues`, scope `issues:write`. It is sent again only where the service
   * is known not to have processed it (429, 401 with another token at hand, never connected); an error's `outcome` tells
   * whether it may exist.
   *
   * @param project the project's name or id, or a `Project`
   * @example
   * const issue = await client.issues.create("web", { title: "Login fails", type: "bug" });
   */
  create = async (project: ProjectRef, input: IssueCreateInput, options?: CallOptions): Promise<Issue> =>
    this.#send(() => createIssue(project, input), options);
}

function createIssue(project: ProjectRef, input: IssueCreateInput): Operation<Issue> {
  const fields = argument.fields(input, "issues.create: input", { title: REQUIRED_STRING, type: REQUIRED_STRING });
  return {
    name: "issues.create",
    method: "POST",
    path: path`/projects/${projectSegment(project, "issues.create")}/issues`,
    body: JSON.stringify(fields),
    schema: issueValidator,
    answer: "json",
    scope: "issues:write",
  };
}
