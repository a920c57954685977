import { argument, type Kind, kind, type Shape, STRING } from "../check.ts";
import { describeType } from "../describe-type.ts";
import type { Project } from "../models.ts";
import { encodeSegment } from "../request/path.ts";
import type { Query } from "../request/query.ts";

/** A project as methods take it: its name, its id, or a record of it, whose id is then used. */
export type ProjectRef = string | Project | Pick<Project, "id">;

/** What lists take. */
export interface ListParams {
  /** Page size; the service's default is 50, and it clamps what is not within 1 to 200. Sent as given. */
  limit?: number | undefined;
  /** Where to go on: the `next_cursor` of a page, or the `cursor` of a walk's error. */
  cursor?: string | undefined;
}

export const REQUIRED_STRING: Kind = { ...STRING, required: true };

/** `null`, the cursor of the last page, means that a walk has ended: from there it would start over. */
export const CURSOR: Kind = kind(
  "a non-empty string, or undefined for the beginning",
  (value) => typeof value === "string" && value !== "",
);

const LIST_PARAMS: Shape<ListParams> = { limit: kind("a whole number", Number.isInteger), cursor: CURSOR };

/** The query of a list. */
export function listQuery(params: ListParams | undefined, method: string): Query {
  return { ...argument.fields(params, `${method}: params`, LIST_PARAMS) };
}

/** The path value of a project. */
export function projectSegment(project: ProjectRef, method: string): string {
  if (typeof project === "object" && project !== null) return segment(project.id, `${method}: project.id`);
  if (typeof project === "string") return segment(project, `${method}: project`);
  return argument.fail(`${method}: project must be a name, an id or a project, not ${describeType(project)}`);
}

/** A value that can stand in a path, or an error that names it. */
export function segment(value: unknown, what: string): string {
  encodeSegment(value, what);
  return value as string; // or it would have been refused
}
