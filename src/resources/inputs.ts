import { describeType } from "../describe-type.ts";
import { ArgumentError } from "../errors/failures.ts";
import type { Project } from "../models.ts";
import { encodeSegment } from "../request/path.ts";

/** A project as methods take it: its name, its id, or a record of it, whose id is then used. */
export type ProjectRef = string | Project | Pick<Project, "id">;

/** What lists take. */
export interface ListParams {
  /** Page size; the service's default is 50, and it clamps what is not within 1 to 200. Sent as given. */
  limit?: number | undefined;
  /** Where to go on: the `next_cursor` of a page, or the `cursor` of a walk's error. */
  cursor?: string | undefined;
}

/** Refuses arguments, naming the method and what is accepted. */
export function refuse(message: string): never {
  throw new ArgumentError(message, { outcome: "not_sent" });
}

/** The path value of a project. */
export function projectSegment(project: ProjectRef, method: string): string {
  if (typeof project === "object" && project !== null) return segment(project.id, `${method}: the project's id`);
  if (typeof project === "string") return segment(project, `${method}: project`);
  return refuse(`${method}: project must be a name, an id or a project, not ${describeType(project)}`);
}

/** A value that can stand in a path, or an error that names it. */
export function segment(value: unknown, what: string): string {
  encodeSegment(value, what);
  return value as string; // or it would have been refused
}

/** An argument that is an object of fields. */
export function fields(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>; // any object can be asked for fields
  return refuse(`${what} must be an object, not ${describeType(value)}`);
}

/** An argument that may be left out; `null` is refused as anything else is that is no object. */
export function optionalFields(value: unknown, what: string): Readonly<Record<string, unknown>> {
  return fields(value === undefined ? {} : value, what);
}

/** A field that must be a string. */
export function requiredString(value: unknown, what: string): string {
  return typeof value === "string" ? value : refuse(`${what} must be a string, not ${describeType(value)}`);
}

/** The query of a list. `null` is refused: as a cursor it means that a walk has ended. */
export function listQuery(params: ListParams | undefined, method: string): { limit?: number; cursor?: string } {
  const { limit, cursor } = optionalFields(params, `${method}: parameters`);
  if (limit !== undefined && !Number.isInteger(limit)) {
    refuse(`${method}: limit must be a whole number, not ${typeof limit === "number" ? limit : describeType(limit)}`);
  }
  if (cursor !== undefined && (typeof cursor !== "string" || cursor === "")) {
    const hint = cursor === null ? " (null is the end of a walk; pass undefined to start at the beginning)" : "";
    refuse(`${method}: cursor must be a non-empty string, not ${cursor === "" ? '""' : describeType(cursor)}${hint}`);
  }
  return {
    ...(limit === undefined ? {} : { limit: limit as number }), // checked above
    ...(cursor === undefined ? {} : { cursor }),
  };
}
