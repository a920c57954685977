/** The part of an import that is the same with each queue: the rows of the file, and the run that creates an issue. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { AutomationError, Client, ClientOptions, Issue } from "project-automation";
import { type BulkEntry, type BulkOptions, bulkWrite } from "project-automation/bulk";
import { parseCsv } from "./csv.ts";

export type Row = Readonly<Record<"id" | "project" | "title" | "type", string>>;

/** The end of a row. */
export type RowEnd = BulkEntry<Row, Issue> & { readonly isOutage: boolean };

/** Creates the issue of a row, unless an earlier job of this row did so, or may have. */
export async function importRow(
  client: Client,
  row: Row,
  options: Pick<BulkOptions<Row, Issue>, "journal" | "signal" | "resolveUnknown">,
): Promise<RowEnd> {
  const run = bulkWrite({
    ...options,
    client,
    items: [row],
    key: ({ id }) => id,
    send: (client, { project, title, type }) => client.issues.create(project, { title, type }),
    reference: ({ number }) => number,
    stopAfter: 1, // the queue tries again
  });
  for await (const entry of run) return { ...entry, isOutage: isOutage(run.stoppedBy) };
  throw new Error("a run of one item has one entry");
}

/** Whether the next job would fail in the same way. A 404 is that of the row's project, and an abort that of its job. */
function isOutage(stoppedBy: AutomationError | undefined): boolean {
  return stoppedBy !== undefined && stoppedBy.kind !== "not_found" && stoppedBy.kind !== "abort";
}

/** Of a client whose token is in the file `TOKEN_FILE`, such as a mounted secret: another job may rotate it. */
export function tokenOptions(): Pick<ClientOptions, "token"> {
  const file = process.env["TOKEN_FILE"];
  if (file === undefined) return {}; // the client reads PROJECT_AUTOMATION_TOKEN
  let held: string | undefined;
  return {
    token: async ({ rejected }) => {
      if (held === undefined || held === rejected) held = (await readFile(file, "utf8")).trim();
      return held;
    },
  };
}

/** CSV with the columns id, project, title and type. */
export function readRows(file: string): Row[] {
  return parseCsv(
    readFileSync(file, "utf8")
      .replace(/^\uFEFF/, "")
      .trim(),
  ).map((row, index) => {
    const { id, project, title, type } = row;
    if (id && project && title && type) return { id, project, title, type };
    throw new Error(`row ${index + 1} of ${file} needs id, project, title and type`);
  });
}
