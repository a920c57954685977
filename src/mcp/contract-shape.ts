import * as z from "zod";
import { ResponseValidationError } from "../core/errors/classes.ts";
import type { Issue, Project, Session } from "../service/models.ts";

/** A schema for each field of a record, no more and no fewer: a field that the record gains does not compile without one. */
type FieldsOf<Model> = { readonly [Field in keyof Model]-?: z.ZodType<Model[Field]> };

// Only the fields of the API documentation: any other may hold anything, an echoed token too.
export const PROJECT = z.object({ id: z.string(), name: z.string() } satisfies FieldsOf<Project>);
export const SESSION = z.object({ id: z.string(), state: z.string() } satisfies FieldsOf<Session>);
export const ISSUE = z.object({
  number: z.int(),
  title: z.string(),
  status: z.string(),
  type: z.string().optional(),
} satisfies FieldsOf<Issue>);

/**
 * The fields of the API documentation in a success of the service. A client with lenient validation hands over whatever came.
 *
 * @throws ResponseValidationError if a field is missing or of another type; the service has accepted the call.
 */
export function parseShape<Output>(schema: z.ZodType<Output>, received: unknown): Output {
  const { success, data, error } = schema.safeParse(received);
  if (success) return data;
  throw new ResponseValidationError("the response is not of the expected shape", {
    outcome: "accepted",
    issues: issuesOf(error.issues),
  });
}

type Issues = ResponseValidationError["issues"];

export function issuesOf(issues: readonly z.core.$ZodIssue[]): Issues {
  return issues.map(({ path, message }) => ({ path: path as (string | number)[], message })); // JSON has no symbols
}

const MOST_ISSUES = 3;

/** The problems of a response, in words that quote nothing of it. */
export function describeIssues(issues: Issues): string {
  const described = issues.map(({ path, message }) => `${path.join(".") || "the body"}: ${message}`);
  const left = described.length - MOST_ISSUES;
  return [...described.slice(0, MOST_ISSUES), ...(left > 0 ? [`${left} more`] : [])].join("; ");
}
