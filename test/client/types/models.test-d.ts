import { expectTypeOf, test } from "vitest";
import * as z from "zod/v4-mini";
import type { CreatedToken, Issue, IssueType, Page, Project, Session, Token } from "../../../src/client/index.ts";
import type { StandardSchema } from "../../../src/core/call/standard-schema.ts";
import { type Fields, validatorOf } from "../../../src/core/call/zod-schema.ts";
import {
  type CreatedTokenSchema,
  IssueSchema,
  ProjectSchema,
  pageOf,
  SessionSchema,
  type TokenSchema,
} from "../../../src/service/schemas/index.ts";

/** The fields that a schema names, without the index signature of a loose object. */
type Named<Schema extends z.ZodMiniType> = {
  [Field in keyof z.infer<Schema> as string extends Field ? never : Field]: z.infer<Schema>[Field];
};

test("models are closed", () => {
  const project = {} as Project; // its types are what counts here
  // @ts-expect-error a misspelt field
  void project.nmae;
  // @ts-expect-error a field that the API documentation does not show
  void project["labels"];
  expectTypeOf<keyof Project>().toEqualTypeOf<"id" | "name">();
  expectTypeOf<keyof Issue>().toEqualTypeOf<"number" | "title" | "status" | "type">();
  expectTypeOf<keyof Page<Project>>().toEqualTypeOf<"data" | "next_cursor">();
  expectTypeOf<Omit<CreatedToken, "plaintext">>().toEqualTypeOf<Omit<Token, never>>();
  expectTypeOf<Pick<Session, "state">>().toEqualTypeOf<{ state: string }>();
  expectTypeOf<"anything else">().toExtend<IssueType>();
});

test("each schema has the fields of its model, each with its type", () => {
  expectTypeOf<Named<typeof ProjectSchema>>().toEqualTypeOf<Pick<Project, keyof Project>>();
  expectTypeOf<Named<typeof SessionSchema>>().toEqualTypeOf<Pick<Session, keyof Session>>();
  expectTypeOf<Named<typeof TokenSchema>>().toEqualTypeOf<Pick<Token, keyof Token>>();
  expectTypeOf<keyof Named<typeof CreatedTokenSchema>>().toEqualTypeOf<keyof CreatedToken>();
  expectTypeOf<keyof Named<typeof IssueSchema>>().toEqualTypeOf<keyof Issue>();
  expectTypeOf<z.infer<typeof CreatedTokenSchema>>().toExtend<CreatedToken>();
  expectTypeOf<z.infer<typeof IssueSchema>>().toExtend<Issue>();
  expectTypeOf<Issue>().toExtend<Named<typeof IssueSchema>>();
});

test("a wrong schema does not compile", () => {
  // @ts-expect-error a field of another type
  void validatorOf<Project>(z.looseObject({ id: z.string(), name: z.number() }));
  // @ts-expect-error a field is missing
  void validatorOf<Project>(z.looseObject({ id: z.string() }));
  // @ts-expect-error a field that may be missing
  void validatorOf<Project>(z.looseObject({ id: z.string(), name: z.optional(z.string()) }));
  // @ts-expect-error another model
  void (validatorOf(SessionSchema) satisfies StandardSchema<Project>);

  void ({ id: z.string(), name: z.string() } satisfies Fields<Project>);
  // @ts-expect-error a field of another type
  void ({ id: z.string(), name: z.number() } satisfies Fields<Project>);
  // @ts-expect-error a field is missing
  void ({ id: z.string() } satisfies Fields<Project>);
  // @ts-expect-error a field that the model does not have
  void ({ id: z.string(), name: z.string(), nmae: z.string() } satisfies Fields<Project>);
});

test("schemas are zod schemas: inferred from, extended, put into others", () => {
  const Team = z.extend(ProjectSchema, { team: z.string() });
  expectTypeOf<z.infer<typeof Team>["team"]>().toEqualTypeOf<string>();
  const teams = pageOf(Team).parse({ data: [], next_cursor: null });
  expectTypeOf(teams.data[0]?.team).toEqualTypeOf<string | undefined>();
  expectTypeOf(teams.next_cursor).toEqualTypeOf<string | null>();
  const Both = z.object({ project: ProjectSchema, issues: z.array(IssueSchema) });
  expectTypeOf<z.infer<typeof Both>["issues"][number]["number"]>().toEqualTypeOf<number>();
});
