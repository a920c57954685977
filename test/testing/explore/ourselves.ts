/**
 * Programs that keep the promises of the package, explored by two faults in a run. A test tries a sample. By hand, after
 * `npm run build`: `node test/testing/explore/ourselves.ts 2000`, or with `bun` in place of `node`.
 */
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, path, rotatingToken, type StoredToken } from "project-automation";
import { bulkWrite } from "project-automation/bulk";
import { fileJournal } from "project-automation/bulk/node";
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
const TITLES = Array.from({ length: 8 }, (_, at) => `Row ${at + 1}`);

type Explored = Pick<ExploreOptions<string>, "program" | "compare" | "emulator">;

/** Rows with a journal. Where `looks`, the program looks for a doubtful row. */
const bulk = (looks: boolean): Explored => ({
  emulator: { listIssues: true },
  program: async ({ client, prepared: folder }) => {
    const { not_sent, unknown } = await bulkWrite({
      client,
      items: TITLES,
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
    if (not_sent + unknown > 0) throw new Error(`${not_sent} not sent, ${unknown} unknown`);
  },
});

/** A job that keeps its token in a file and rotates it before its expiry. */
const rotation: Explored = {
  emulator: { projects: 5 },
  program: async ({ clientOptions, prepared: folder }) => {
    const file = join(folder, "token.json");
    const save = async (token: StoredToken): Promise<void> => {
      await writeFile(`${file}.new`, JSON.stringify(token));
      await rename(`${file}.new`, file);
    };
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const first: StoredToken = { id: "tok_1", plaintext: clientOptions.token, expires_at: soon };
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
const tools: Explored = {
  program: async ({ client, prepared: folder }) => {
    const host = await connect(client, { journal: fileJournal(join(folder, "issues.journal")) });
    try {
      for (const title of TITLES.slice(0, 3)) {
        const call = () => host.call("create_issue", { project: "web", title, type: "bug" });
        const first = await call();
        const { isError, text } = first.isError ? await call() : first;
        if (isError) throw new Error(text);
      }
    } finally {
      await host.close();
    }
  },
};

export const OURSELVES: Readonly<Record<string, Explored>> = {
  "bulkWrite with a journal in a file": bulk(false),
  "bulkWrite that looks for doubtful rows": bulk(true),
  "a rotatingToken that is stored in a file": rotation,
  "create_issue of the tools for agents, with a journal": tools,
};

/** Explores one of the programs with so many runs of two faults. */
export async function exploreOurselves(explored: Explored, maxRuns: number): Promise<ExplorationReport> {
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
  for (const [name, explored] of Object.entries(OURSELVES)) {
    const beganAt = performance.now();
    const { runs, right, told, unreached, message } = await exploreOurselves(explored, Number(process.argv[2] ?? 200));
    const ms = (performance.now() - beganAt) / runs;
    console.log(
      `${name}: ${runs} runs, ${right} right, ${told} told, ${unreached} unreached, ${ms.toFixed(0)} ms a run`,
    );
    console.log(message);
  }
}
