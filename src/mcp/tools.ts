import * as z from "zod";
import type { Client } from "../client/client.ts";
import { internalsOf } from "../core/call/internals.ts";
import { isAutomationError } from "../core/errors/classes.ts";
import type { Deadline } from "../core/time/deadline.ts";
import type { Scope } from "../service/scopes.ts";
import { ISSUE, PROJECT, parseShape, SESSION } from "./contract-shape.ts";
import { quoted, visible } from "./foreign-text.ts";
import type { IssueMemory } from "./issue-memory.ts";

/** The name of a tool. */
export type ToolName = "list_projects" | "list_sessions" | "get_session" | "wait_for_session" | "create_issue";

export interface ToolContext {
  readonly client: Client;
  readonly issues: IssueMemory;
  readonly deadline: Deadline;
  /** The options of each call of the client: the cancellation, and the time that is left. */
  readonly options: () => { readonly signal: AbortSignal; readonly totalTimeoutMs: number };
  /** Says what the call waits for, for the host's progress notifications. */
  readonly waitsFor: (what: string) => void;
}

/** The result of a tool: structured content, and what a model should know beside it. */
export interface ToolOutput<Output> {
  readonly content: Output;
  readonly note?: string;
}

/** One tool as data: what a host lists, the scope that it needs, and the call. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  readonly title: string;
  readonly description: string;
  readonly scope: Scope;
  readonly writes: boolean;
  readonly input: Input;
  readonly output: Output;
  call(input: z.output<Input>, context: ToolContext): Promise<ToolOutput<z.input<Output>>>;
}

const text = z.string().min(1);
const projectArgument = text.describe("The name or the id of a project");
const sessionArgument = text.describe("The id of a session");
const pageArguments = {
  limit: z.int().min(1).max(200).optional().describe("The most items to return: 50 if it is left out, 200 at most"),
  cursor: z.string().nullish().describe("The next_cursor of the page before; leave it out for the first page"),
};

/** The arguments of a page as the client takes them. A host that cannot leave the cursor out sends `null` or `""`. */
function pageParams<Params extends { cursor?: string | null | undefined }>({ cursor, ...others }: Params) {
  return { ...others, cursor: cursor || undefined };
}

function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    next_cursor: z.string().nullable().describe("Pass it as cursor to get the next page; null: this is the last one"),
  });
}

const FIRST_PAGE = "The cursor was empty, so this is the first page.";

/** One page of records. `cursor`: as the model gave it. */
function pageResult<Item>(
  item: z.ZodType<Item>,
  page: { readonly data: readonly unknown[]; readonly next_cursor: string | null },
  cursor: string | null | undefined,
): ToolOutput<{ data: Item[]; next_cursor: string | null }> {
  const content = { data: parseShape(z.array(item), page.data), next_cursor: page.next_cursor };
  return cursor === null || cursor === "" ? { content, note: FIRST_PAGE } : { content };
}

// Lets the compiler infer the types of the schemas of each tool.
function tool<Input extends z.ZodObject, Output extends z.ZodObject>(one: Tool<Input, Output>): Tool<Input, Output> {
  return one;
}

/** Every tool by its name. None handles tokens: a one-time `plaintext` never reaches a model. */
export const TOOLS = {
  list_projects: tool({
    title: "List projects",
    description: "Returns one page of the projects that the token may see.",
    scope: "projects:read",
    writes: false,
    input: z.strictObject(pageArguments),
    output: pageOf(PROJECT),
    async call(params, { client, options }) {
      const list = client.projects.list(pageParams(params), options());
      return pageResult(PROJECT, await list.page(), params.cursor);
    },
  }),
  list_sessions: tool({
    title: "List sessions",
    description: "Returns one page of the agent sessions of a project.",
    scope: "sessions:read",
    writes: false,
    input: z.strictObject({ project: projectArgument, ...pageArguments }),
    output: pageOf(SESSION),
    async call({ project, ...params }, { client, options }) {
      const list = client.sessions.list(project, pageParams(params), options());
      return pageResult(SESSION, await list.page(), params.cursor);
    },
  }),
  get_session: tool({
    title: "Get a session",
    description: "Returns the present state of an agent session.",
    scope: "sessions:read",
    writes: false,
    input: z.strictObject({ id: sessionArgument }),
    output: SESSION,
    async call({ id }, { client, options }) {
      return { content: parseShape(SESSION, await client.sessions.get(id, options())) };
    },
  }),
  wait_for_session: tool({
    title: "Wait for a session",
    description:
      "Waits until an agent session is in one of the given states, and returns its state. The wait is limited: " +
      "`done: false` means that the session was in another state when the time was over. Call the tool again to go on waiting.",
    scope: "sessions:read",
    writes: false,
    input: z.strictObject({
      id: sessionArgument,
      until: z.array(text).min(1).max(100).describe("The states that end the wait, such as done and failed"),
    }),
    output: SESSION.extend({ done: z.boolean().describe("Whether the session is in one of the given states") }),
    async call({ id, until }, { client, options, waitsFor }) {
      try {
        const session = await client.sessions.waitFor(id, {
          ...options(),
          until: (seen) => {
            const state = visible(parseShape(SESSION, seen).state); // as the model has read it
            waitsFor(`the session is ${quoted(state)}`);
            return until.includes(state);
          },
        });
        return { content: { ...parseShape(SESSION, session), done: true } };
      } catch (error) {
        if (!isAutomationError(error) || error.kind !== "timeout" || error.session === undefined) throw error;
        const session = parseShape(SESSION, error.session);
        const note = `The time of this call is over and the session is still ${quoted(session.state)}: call wait_for_session again to go on waiting.`;
        return { content: { ...session, done: false }, note };
      }
    },
  }),
  create_issue: tool({
    title: "Create an issue",
    description:
      "Creates an issue in a project. The same project, title and type as in an earlier call return the issue of that call " +
      "from memory, with `repeated: true`, and create nothing. If an earlier call may have created the issue, this is an error that says so. " +
      "The last 10,000 issues are remembered until the server ends. Each call with `again: true` creates another issue with the same title.",
    scope: "issues:write",
    writes: true,
    input: z.strictObject({
      project: projectArgument,
      title: text,
      type: text.describe('The type of the issue, such as "bug"'),
      again: z.boolean().optional().describe("Create the issue even if one with this title exists or may exist"),
    }),
    output: ISSUE.extend({
      status: ISSUE.shape.status.optional().describe("Left out with `repeated: true`, since it may have changed"),
      repeated: z.boolean().describe("Whether an earlier call created the issue, and this one created nothing"),
      created_at: z.string().optional().describe("With `repeated: true`: when the earlier call created it"),
    }),
    async call({ project, again = false, ...input }, { client, issues, options, deadline }) {
      const created = await issues.create(
        [project, input.title, input.type],
        (beforeRequest) => {
          const followed = internalsOf(client)?.instrumented({ begin: () => ({ beforeRequest }) });
          return (followed ?? client).issues.create(project, input, options());
        },
        { again, deadline },
      );
      if (!created.repeated) return { content: created };
      const note = `From memory: an earlier call created this issue at ${created.created_at}, and it may have changed since. Pass again: true to create another one.`;
      return { content: created, note };
    },
  }),
} satisfies Readonly<Record<ToolName, object>>;
