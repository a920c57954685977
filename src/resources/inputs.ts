import { given, type Kind, kind, ofKind, refuse, required, type Shape, STRING, shown } from "../base/check.ts";
import type { Project } from "../models.ts";
import type { Query } from "../request/url.ts";

/** A project as methods take it: its name, its id, or a record of it, whose id is then used. */
export type ProjectRef = string | Project | Pick<Project, "id">;

/** The parameters of lists. */
export interface ListParams {
  /** Page size, a safe integer. Sent as given; the service clamps it to 1..200, and takes 50 without one. */
  limit?: number | undefined;
  /** Where to go on: the `next_cursor` of a page, or the `cursor` of a walk's error. */
  cursor?: string | undefined;
}

export const REQUIRED_STRING: Kind = required(STRING);

/** `null`, the cursor of the last page, means that a walk has ended: from there it would start over. */
export const CURSOR: Kind = kind(
  "a non-empty string of well-formed Unicode, or undefined for the beginning",
  (value) => typeof value === "string" && value !== "" && !/\p{Surrogate}/u.test(value),
);

const LIST_PARAMS: Shape<ListParams> = { limit: kind("a safe integer", Number.isSafeInteger), cursor: CURSOR };

/** The query of a list. */
export function listQuery(params: ListParams | undefined): Query {
  return given(params, "params", LIST_PARAMS);
}

/** The path value of a project. */
export function projectValue(project: ProjectRef): string {
  if (typeof project === "string") return project;
  if (typeof project !== "object" || project === null) {
    refuse(`project must be a name, an id or a project, not ${shown(project)}`);
  }
  if (!("id" in project)) refuse("project must be a name, an id or a project, not an object without an id");
  return ofKind(project.id, "project.id", STRING);
}
