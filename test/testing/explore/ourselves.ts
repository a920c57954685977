/**
 * Programs that keep the promises of the package, explored by two faults in a run. A test tries a sample. By hand, after
 * `npm run build`: `node test/testing/explore/ourselves.ts 2000`, or with `bun` in place of `node`. A word of a name chooses.
 */
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, path, rotatingToken, type StoredToken } from "project-automation";
import { bulkWrite } from "project-automation/bulk";
import { fileJournal } from "project-automation/bulk/node";
import { createEmulator } from "project-automation/testing";
import {
  ExplorationError,
  type ExplorationReport,
  type ExploreOptions,
  exploreFaults,
  type FaultKind,
} from "project-automation/testing/node";
import { connect } from "../../mcp/hosts.ts";

const FAULTS: readonly FaultKind[] = [
  "lost_before",
  "lost_after",
  "unavailable",
  "unavailable_after",
  "cut_body",
  "outage",
  "token_rejected",
  "rate_limit",
  "stopped",
];

/** A program, and the requests that it sends if none fails. */
interface Explored extends Pick<ExploreOptions<string>, "program" | "compare" | "emulator"> {
  readonly requests: number;
}

/** Rows with a journal. Where `looks`, the program looks for a doubtful row. */
const bulk = (titles: readonly string[], looks: boolean): Explored => ({
  requests: titles.length + 1, // it reads first
  emulator: { listIssues: true },
  program: async ({ client, prepared: folder }) => {
    await bulkWrite({
      client,
      items: titles,
      key: (title) => title,
      concurrency: 3,
      send: (own, title) => own.issues.create("web", { title, type: "bug" }),
      journal: fileJournal(join(folder, "import.journal")),
      ...(looks && {
        resolveUnknown: async (title: string) => {
          for await (const issue of client.paginate({ path: path`/projects/${"web"}/issues` }))
            if ((issue as { title: string }).title === title) return "applied"; // the emulator lists issues
          return "not_applied";
        },
      }),
    });
  },
});

const FIVE = { projects: 5 };
/** The id of the token that programs get: the same in each emulator with these options. */
const TOKEN_ID = createEmulator(FIVE).tokens.list()[0]?.id ?? "";

/** A job that keeps its token in a file and rotates it before its expiry. */
const rotation: Explored = {
  requests: 6,
  emulator: FIVE,
  program: async ({ clientOptions, prepared: folder }) => {
    const file = join(folder, "token.json");
    const save = async (token: StoredToken): Promise<void> => {
      await writeFile(`${file}.new`, JSON.stringify(token));
      await rename(`${file}.new`, file);
    };
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const first: StoredToken = { id: TOKEN_ID, plaintext: clientOptions.token, expires_at: soon };
    const stored = await readFile(file, "utf8").then(
      (text) => JSON.parse(text) as StoredToken, // as it was saved
      () => first,
    );
    const token = rotatingToken({ token: stored, onRotated: save });
    const client = new Client({ ...clientOptions, token });
    try {
      const names: string[] = [];
      for await (const { name } of client.projects.list({ limit: 1 })) names.push(name);
      return names;
    } finally {
      await token.settled();
    }
  },
  compare: ({ result }) => result,
};

/** A model that calls `create_issue` once more after an error, in a host that starts the server anew. */
const tools = (titles: readonly string[]): Explored => ({
  requests: titles.length,
  program: async ({ client, prepared: folder }) => {
    const journal = fileJournal(join(folder, "issues.journal"));
    const host = await connect(client, { journal });
    try {
      for (const title of titles) {
        const call = () => host.call("create_issue", { project: "web", title, type: "bug" });
        const first = await call();
        const { isError, text } = first.isError ? await call() : first;
        if (isError) throw new Error(text);
      }
    } finally {
      await host.close();
      await journal.close();
    }
  },
});

/** The programs, with so many rows each. */
export function ourselves(rows: number): Readonly<Record<string, Explored>> {
  const titles = Array.from({ length: rows }, (_, at) => `Row ${at + 1}`);
  return {
    "bulkWrite with a journal in a file": bulk(titles, false),
    "bulkWrite that looks for doubtful rows": bulk(titles, true),
    "a rotatingToken that is stored in a file": rotation,
    "create_issue of the tools for agents, with a journal": tools(titles),
  };
}

/** Explores one of the programs with so many runs of two faults. */
export async function exploreOurselves(
  { requests: _, ...explored }: Explored,
  maxRuns: number,
): Promise<ExplorationReport> {
  const options: ExploreOptions<string> = {
    ...explored,
    faults: FAULTS,
    depth: 2,
    maxRuns,
    prepare: () => mkdtemp(join(tmpdir(), "explore-")),
    dispose: (folder) => rm(folder, { recursive: true }),
  };
  return exploreFaults(options).catch((error: unknown) => {
    if (error instanceof ExplorationError) return error.report;
    throw error;
  });
}

if (process.argv[1] === import.meta.filename) {
  const [, , maxRuns = "200", word = ""] = process.argv;
  for (const [name, explored] of Object.entries(ourselves(8))) {
    if (!name.includes(word)) continue;
    const { runs, right, told, unreached, message } = await exploreOurselves(explored, Number(maxRuns));
    console.log(`${name}: ${runs} runs, ${right} right, ${told} told, ${unreached} unreached`);
    console.log(message);
  }
}
