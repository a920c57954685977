import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import type * as z from "zod";
import type { Client } from "../client/client.ts";
import { internalsOf, redactorOf } from "../core/call/internals.ts";
import { isRecord } from "../core/checks/values.ts";
import { ArgumentError } from "../core/errors/classes.ts";
import { Deadline } from "../core/time/deadline.ts";
import { describeIssues, issuesOf } from "./contract-shape.ts";
import { describeFailure } from "./failure.ts";
import { quoted, type TextRules, visibleJson } from "./foreign-text.ts";
import { notifyProgress } from "./progress.ts";
import type { Tool, ToolContext, ToolOutput } from "./tools.ts";

export interface Shared extends Pick<ToolContext, "client" | "issues"> {
  readonly totalTimeoutMs: number;
}

interface ToolCall {
  readonly name: string;
  readonly tool: Tool;
  readonly given: unknown;
}

/** Runs one call of a tool within its time limit. Never rejects: a failure is a result, too. */
export async function runTool(
  { name, tool, given }: ToolCall,
  { client, issues, totalTimeoutMs }: Shared,
  context: ServerContext,
): Promise<CallToolResult> {
  const { signal } = context.mcpReq;
  const deadline = Deadline.of(totalTimeoutMs, signal);
  let waiting: string | undefined;
  const endProgress = notifyProgress(context, () => describePause(client) ?? waiting);
  try {
    const output = await tool.call(parseInput(tool.input, given), {
      client,
      issues,
      deadline,
      options: () => ({ signal, totalTimeoutMs: Math.max(1, Math.ceil(deadline.leftMs)) }),
      waitsFor: (what) => {
        waiting = what;
      },
    });
    const context = internalsOf(client)?.context();
    return resultOf(output, context && ((text) => redactorOf(context).text(text)));
  } catch (error) {
    return { content: [{ type: "text", text: describeFailure(error, { name, ...tool }) }], isError: true };
  } finally {
    endProgress();
    deadline.release();
  }
}

/** @throws ArgumentError if an argument is unknown, missing, or not of its type. */
function parseInput(schema: z.ZodObject, given: unknown): Record<string, unknown> {
  const { success, data, error } = schema.safeParse(isRecord(given) ? withoutNull(schema, given) : given);
  if (success) return data;
  const unknown = error.issues.flatMap((issue) => (issue.code === "unrecognized_keys" ? issue.keys : []));
  const others = error.issues.filter(({ code }) => code !== "unrecognized_keys");
  const named = unknown.map(quoted).join(", ");
  const problems = [
    unknown.length === 0 ? [] : `unknown argument ${named}; there are ${Object.keys(schema.shape).join(", ")}`,
    others.length === 0 ? [] : describeIssues(issuesOf(others)),
  ];
  throw new ArgumentError(problems.flat().join("; "), { outcome: "not_sent" });
}

/** Leaves out what is `null` and optional: a host may be unable to leave it out. */
function withoutNull({ shape }: z.ZodObject, given: Record<string, unknown>): Record<string, unknown> {
  const isLeftOut = (field: z.ZodType | undefined): boolean =>
    field?.safeParse(undefined).success === true && !field.safeParse(null).success;
  const fields = shape as Readonly<Record<string, z.ZodType>>; // each is a schema
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => value !== null || !isLeftOut(fields[name])),
  );
}

/** The longest text of others in a result. */
const LONGEST_TEXT = 1_000;

function resultOf({ content, note }: ToolOutput<Record<string, unknown>>, redact: TextRules["redact"]): CallToolResult {
  const structuredContent = visibleJson(content, { longest: LONGEST_TEXT, redact });
  const text = [JSON.stringify(structuredContent), note ?? []].flat().join("\n");
  return { content: [{ type: "text", text }], structuredContent };
}

function describePause({ rateLimit }: Client): string | undefined {
  const leftMs = (rateLimit?.pausedUntil?.getTime() ?? 0) - Date.now();
  return leftMs > 0 ? `waiting for the rate limit of the service: ${Math.ceil(leftMs / 1_000)} s left` : undefined;
}
