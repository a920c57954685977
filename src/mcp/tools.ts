import * as z from "zod";
import type { Client } from "../client/client.ts";
import { isAutomationError } from "../client/errors/classes.ts";
import type { Scope } from "../client/scopes.ts";
import { CREATED, type IssueGuard, type Wait } from "./issue-guard.ts";

/** The name of a tool. */
export type ToolName = "list_projects" | "list_sessions" | "get_session" | "wait_for_session" | "create_issue";

/** What the call of a tool has to work with. */
export interface ToolContext {
  readonly client: Client;
  readonly issues: IssueGuard;
  /** What every call of the client takes: the host's cancellation, and the time that is left. */
  readonly options: () => { readonly signal: AbortSignal; readonly totalTimeoutMs: number };
  /** Waits for something else than a call of the client. */
  readonly wait: Wait;
  /** What the call waits for, in words, for the host's progress notifications. */
  readonly waitsFor: (what: string) => void;
}

/** What a tool returns: structured content, and what a model should know beside it. */
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

// Only the fields of the contract: any other may hold anything, an echoed token too.
const project = z.object({ id: z.string(), name: z.string() });
const session = z.object({ id: z.string(), state: z.string() });

const projectArgument = z.string().describe("The name or the id of a project");
const sessionArgument = z.string().describe("The id of a session");
const pageArguments = {
  limit: z.int().optional().describe("The most items to return: 50 if it is left out, 200 at most"),
  cursor: z.string().optional().describe("The next_cursor of the page before; leave it out for the first page"),
};

function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    next_cursor: z.string().nullable().describe("Pass it as cursor to get the next page; null: this is the last one"),
  });
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
    output: pageOf(project),
    async call(params, { client, options }) {
      const { data, next_cursor } = await client.projects.list(params, options()).page();
      return { content: { data: data.map(({ id, name }) => ({ id, name })), next_cursor } };
    },
  }),
  list_sessions: tool({
    title: "List sessions",
    description: "Returns one page of the agent sessions of a project.",
    scope: "sessions:read",
    writes: false,
    input: z.strictObject({ project: projectArgument, ...pageArguments }),
    output: pageOf(session),
    async call({ project, ...params }, { client, options }) {
      const { data, next_cursor } = await client.sessions.list(project, params, options()).page();
      return { content: { data: data.map(({ id, state }) => ({ id, state })), next_cursor } };
    },
  }),
  get_session: tool({
    title: "Get a session",
    description: "Returns the present state of an agent session.",
    scope: "sessions:read",
    writes: false,
    input: z.strictObject({ id: sessionArgument }),
    output: session,
    async call(input, { client, options }) {
      const { id, state } = await client.sessions.get(input.id, options());
      return { content: { id, state } };
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
      until: z.array(z.string()).min(1).describe("The states that end the wait, such as done and failed"),
    }),
    output: session.extend({ done: z.boolean().describe("Whether the session is in one of the given states") }),
    async call({ id, until }, { client, options, waitsFor }) {
      try {
        const { state } = await client.sessions.waitFor(id, {
          ...options(),
          until: (seen) => {
            waitsFor(`the session is ${JSON.stringify(seen.state)}`);
            return until.includes(seen.state);
          },
        });
        return { content: { id, state, done: true } };
      } catch (error) {
        if (!isAutomationError(error) || error.kind !== "timeout" || error.session === undefined) throw error;
        const { state } = error.session;
        const note = `The time of this call is over and the session is still ${JSON.stringify(state)}: call wait_for_session again to go on waiting.`;
        return { content: { id, state, done: false }, note };
      }
    },
  }),
  create_issue: tool({
    title: "Create an issue",
    description:
      "Creates an issue in a project. The same project, title and type as in an earlier call return the issue of that call, " +
      "with `repeated: true`, and create nothing. If an earlier call may have created the issue, this is an error that says so. " +
      "The last 10,000 issues are remembered, in memory unless the server has a journal. Pass `again: true` to create another issue with the same title all the same.",
    scope: "issues:write",
    writes: true,
    input: z.strictObject({
      project: projectArgument,
      title: z.string(),
      type: z.string().describe('The type of the issue, such as "bug"'),
      again: z.boolean().optional().describe("Create the issue even if one with this title exists or may exist"),
    }),
    output: CREATED.extend({
      repeated: z.boolean().describe("Whether an earlier call created the issue, and this one created nothing"),
    }),
    async call({ project, again = false, ...input }, { client, issues, options, wait }) {
      const created = await issues.create(
        [project, input.title, input.type],
        (onRequest) => client.issues.create(project, input, { ...options(), onRequest }),
        { again, wait },
      );
      return created.repeated
        ? { content: created, note: "An earlier call created this issue; pass again: true to create another one." }
        : { content: created };
    },
  }),
} satisfies Readonly<Record<ToolName, object>>;
