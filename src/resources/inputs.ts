import { argument, type Kind, kind, type Present, type Shape, STRING } from "../check.ts";
import { describeType } from "../describe-type.ts";
import type { Project } from "../models.ts";
import type { CallOptions } from "../request/operation.ts";
import type { Query } from "../request/query.ts";

/** A project as methods take it: its name, its id, or a record of it, whose id is then used. */
export type ProjectRef = string | Project | Pick<Project, "id">;

/** The parameters of lists. */
export interface ListParams {
  /** Page size, a whole number. Sent as given; the service clamps it to 1..200, and takes 50 without one. */
  limit?: number | undefined;
  /** Where to go on: the `next_cursor` of a page, or the `cursor` of a walk's error. */
  cursor?: string | undefined;
}

export const REQUIRED_STRING: Kind = { ...STRING, required: true };

/** `null`, the cursor of the last page, means that a walk has ended: from there it would start over. */
export const CURSOR: Kind = kind(
  "a non-empty string of well-formed Unicode, or undefined for the beginning",
  (value) => typeof value === "string" && value !== "" && !/\p{Surrogate}/u.test(value),
);

const LIST_PARAMS: Shape<ListParams> = { limit: kind("a whole number", Number.isInteger), cursor: CURSOR };

/** What belongs in the last argument of a method, and nowhere else. */
const OPTION_NAMES: Readonly<Record<keyof CallOptions | "adopt" | "prefetch", true>> = {
  signal: true,
  timeoutMs: true,
  totalTimeoutMs: true,
  retry: true,
  headers: true,
  onRequest: true,
  onResponse: true,
  adopt: true,
  prefetch: true,
};

/** The fields of an input or of parameters, as `argument.options` checks them; options among them are told where they belong. */
export function readInput<Given extends object>(
  given: Given | undefined,
  what: string,
  shape: Shape<Given>,
): Present<Given> {
  const misplaced = keysOf(given).find((key) => Object.hasOwn(OPTION_NAMES, key) && !Object.hasOwn(shape, key));
  if (misplaced !== undefined) {
    argument.fail(
      `${what} must not have "${misplaced}": it belongs in the last argument, options; accepted here: ${Object.keys(shape).join(", ")}`,
    );
  }
  return argument.options(given, what, shape);
}

/** Refuses the parameters of a list among its options. */
export function refuseParams(options: object | undefined, what: string): void {
  const misplaced = keysOf(options).find((key) => Object.hasOwn(LIST_PARAMS, key));
  if (misplaced !== undefined) {
    argument.fail(`${what} must not have "${misplaced}": it belongs in the argument before, params`);
  }
}

/** The query of a list. */
export function listQuery(params: ListParams | undefined, operation: string): Query {
  return readInput(params, `${operation}: params`, LIST_PARAMS);
}

/** The path value of a project. */
export function projectValue(project: ProjectRef, operation: string): string {
  if (typeof project === "string") return project;
  if (typeof project === "object" && project !== null) {
    return argument.value(project.id, `${operation}: project.id`, STRING);
  }
  return argument.fail(`${operation}: project must be a name, an id or a project, not ${describeType(project)}`);
}

function keysOf(given: unknown): string[] {
  return typeof given === "object" && given !== null ? Object.keys(given) : [];
}
