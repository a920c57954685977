import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { bulkWrite } from "../../../src/bulk/index.ts";
import { fileJournal } from "../../../src/bulk/node.ts";
import { Client, type CreatedToken, isAutomationError, rotatingToken } from "../../../src/client/index.ts";
import { exploreFaults } from "../../../src/testing/node/explore/explore-faults.ts";
import type { ExploreOptions } from "../../../src/testing/node/explore/options.ts";
import { ExplorationError, type ExplorationReport } from "../../../src/testing/node/explore/report.ts";

const issue = { title: "Broken", type: "bug" } as const;
const TITLES = ["One", "Two", "Three"];

async function reportOf<Prepared>(options: ExploreOptions<Prepared>): Promise<ExplorationReport> {
  return exploreFaults(options).catch((error: unknown) => {
    if (error instanceof ExplorationError) return error.report;
    throw error;
  });
}

const kindsIn = ({ findings }: ExplorationReport): string[] => [...new Set(findings.map(({ what }) => what))];

/** A folder outlasts a start, as a disk does. */
const disk = {
  prepare: () => mkdtemp(join(tmpdir(), "explore-")),
  dispose: (folder: string) => rm(folder, { recursive: true }),
};

const readIfThere = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

const namesOf = async (client: Client): Promise<string[]> => {
  const names: string[] = [];
  for await (const { name } of client.projects.list({ limit: 1 })) names.push(name);
  return names;
};

const createAll = (client: Client): Promise<unknown>[] =>
  TITLES.map((title) => client.issues.create("web", { title, type: "bug" }));

/** Where a job keeps its token. */
interface Store {
  job?: CreatedToken;
}

/** Programs with one planted fault each. */
const WRONG: Readonly<Record<string, { readonly what: string; readonly options: ExploreOptions<unknown> }>> = {
  "a loop that creates again after any error": {
    what: "twice",
    options: {
      program: async ({ client }) => {
        for (let left = 2; ; left -= 1) {
          try {
            return await client.issues.create("web", issue);
          } catch (error) {
            if (left === 0) throw error;
          }
        }
      },
    },
  },
  "an allSettled whose rejections nobody looks at": {
    what: "lost",
    options: { program: ({ client }) => Promise.allSettled(createAll(client)) },
  },
  "a walk that takes an error for the end of the list": {
    what: "changed",
    options: {
      program: async ({ client }) => {
        const names: string[] = [];
        try {
          for await (const { name } of client.projects.list({ limit: 1 })) names.push(name);
        } catch {
          return names;
        }
        return names;
      },
      compare: ({ result }) => result,
    },
  },
  "a rotated token that the old one overwrites": {
    what: "locked_out",
    options: {
      faults: ["unavailable", "outage", "token_rejected"],
      prepare: (): Store => ({}),
      program: async ({ client, clientOptions, prepared }) => {
        const store = prepared as Store;
        store.job ??= await client.tokens.create({ name: "job", scopes: ["projects:read"] });
        const old = store.job;
        const own = new Client({ ...clientOptions, token: old.plaintext });
        store.job = await own.tokens.rotate(old.id, { adopt: true });
        try {
          for await (const _ of own.projects.list());
        } catch (error) {
          store.job = old; // it is revoked
          throw error;
        }
      },
    },
  },
  "a rotatingToken that is not stored": {
    what: "locked_out",
    options: {
      faults: ["token_rejected"],
      prepare: (): Store => ({}),
      program: async ({ client, clientOptions, prepared }) => {
        const store = prepared as Store;
        store.job ??= await client.tokens.create({ name: "job", scopes: ["projects:read"], expires_in_days: 1 });
        const token = rotatingToken({ token: store.job, onRotated: () => {} });
        for await (const _ of new Client({ ...clientOptions, token }).projects.list());
      },
    },
  },
  "an unknown write that is sent again": {
    what: "twice",
    options: {
      program: ({ client }) =>
        client.issues.create("web", issue).catch((error: unknown) => {
          if (isAutomationError(error) && error.outcome === "unknown") return client.issues.create("web", issue);
          throw error;
        }),
    },
  },
  "a wait for an event that a failed write never sends": {
    what: "hangs",
    options: {
      program: ({ client }) =>
        new Promise<void>((resolve) => {
          client.issues.create("web", issue).then(
            () => resolve(),
            () => undefined,
          );
        }),
    },
  },
  "a count of pages that goes on after a failed one": {
    what: "changed",
    options: {
      program: async ({ clientOptions: { fetch, baseUrl, token } }) => {
        let pages = 0;
        let names = 0;
        for (let cursor = ""; ; ) {
          const url = `${baseUrl}/projects?limit=1${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
          const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } }).catch(() => undefined);
          const body = (await response?.json().catch(() => undefined)) as
            | { data?: unknown[]; next_cursor?: string }
            | undefined;
          pages += 1;
          names += body?.data?.length ?? 0;
          cursor = body?.next_cursor ?? "";
          if (cursor === "") return { pages, names };
        }
      },
      compare: ({ result }) => result,
    },
  },
  "a token that each start makes anew": {
    what: "twice",
    options: {
      program: async ({ client, clientOptions }) => {
        const { plaintext } = await client.tokens.create({ name: "job", scopes: ["projects:read"] });
        return namesOf(new Client({ ...clientOptions, token: plaintext }));
      },
    },
  },
  "a revocation whose failure is logged, and no more": {
    what: "twice",
    options: {
      program: async ({ client }) => {
        const { id } = await client.tokens.create({ name: "job", scopes: [] });
        await client.tokens.revoke(id).catch((error: unknown) => String(error));
      },
    },
  },
  "a row that is marked as done before it is written": {
    what: "lost",
    options: {
      ...disk,
      program: async ({ client, prepared }) => {
        const path = join(String(prepared), "done");
        for (const title of TITLES) {
          const done = await readIfThere(path);
          if (done.includes(title)) continue;
          await writeFile(path, `${done}${title}\n`);
          await client.issues.create("web", { title, type: "bug" });
        }
      },
    } as ExploreOptions<unknown>,
  },
};

test.each(Object.entries(WRONG))("found: %s", async (_, { what, options }) => {
  expect(kindsIn(await reportOf(options))).toEqual([what]);
});

const bulk = (concurrency: number): ExploreOptions<string> => ({
  ...disk,
  program: async ({ client, prepared }) => {
    await bulkWrite({
      client,
      items: TITLES,
      key: (title) => title,
      concurrency,
      send: (own, title) => own.issues.create("web", { title, type: "bug" }),
      journal: fileJournal(join(prepared, "journal")),
    });
  },
});

/** Creates what a look does not show, and looks again after `wait`. */
const lookFirst = (wait: () => Promise<unknown>): ExploreOptions => ({
  emulator: { listIssues: true },
  program: async ({ clientOptions: { fetch, baseUrl, token } }) => {
    const url = `${baseUrl}/projects/web/issues`;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    for (let tries = 0; tries < 3; tries += 1) {
      const known = await fetch(url, { headers });
      if (!known.ok) throw new Error("cannot look");
      if ((await known.text()).includes(issue.title)) return;
      await fetch(url, { method: "POST", headers, body: JSON.stringify(issue) }).catch(() => undefined);
      await wait();
    }
    throw new Error("it is not there");
  },
});

/** Programs that are right, each with the number of runs in which they say that they are not done. */
const RIGHT: Readonly<Record<string, { readonly told: number; readonly explore: () => Promise<ExplorationReport> }>> = {
  "a bulk write with a journal": { told: 18, explore: () => reportOf(bulk(1)) },
  "a bulk write with a journal, several at a time, by faults that are not tried unless named": {
    told: 4,
    explore: () => reportOf({ ...bulk(3), faults: ["rate_limit", "stopped"] }),
  },
  "a look before each write, ten minutes apart by setTimeout": {
    told: 0,
    explore: () => reportOf(lookFirst(() => new Promise((resolve) => setTimeout(resolve, 600_000)))),
  },
  "a look before each write, an hour apart by timers/promises": {
    told: 0,
    explore: () => reportOf(lookFirst(() => pause(3_600_000))),
  },
  "reads side by side": {
    told: 0,
    explore: () =>
      reportOf({
        program: async ({ client }) => (await Promise.all([namesOf(client), namesOf(client)])).flat(),
        compare: ({ result }) => result,
      }),
  },
  "a marker on disk before the write, which no later start passes": {
    told: 7,
    explore: () =>
      reportOf({
        ...disk,
        program: async ({ client, prepared }) => {
          const marker = join(prepared, "begun");
          const state = await readIfThere(marker);
          if (state === "done") return;
          if (state === "begun") throw new Error("it may be there: look");
          await writeFile(marker, "begun");
          await client.issues.create("web", issue);
          await writeFile(marker, "done");
        },
      }),
  },
  "a walk whose file replaces the old one at its end": {
    told: 0,
    explore: () =>
      reportOf({
        ...disk,
        program: async ({ client, prepared }) =>
          writeFile(join(prepared, "names"), JSON.stringify(await namesOf(client))),
        compare: ({ prepared }) => readIfThere(join(prepared, "names")),
      }),
  },
  "a wait of the client for a session, three minutes at most": {
    told: 0,
    explore: () =>
      reportOf({
        program: async ({ client }) =>
          (
            await client.sessions.waitFor("ses_1", {
              until: ({ state }) => state === "done",
              intervalMs: 60_000,
              totalTimeoutMs: 200_000,
            })
          ).state,
        compare: ({ result }) => result,
      }),
  },
  "a poll by setInterval, five times at most": {
    told: 0,
    explore: () =>
      reportOf({
        program: ({ client }) =>
          new Promise((resolve, reject) => {
            let polls = 0;
            const poll = async (): Promise<void> => {
              polls += 1;
              const found = await client.sessions.get("ses_1").catch(() => undefined);
              if (found?.state !== "done" && polls < 5) return;
              clearInterval(polling);
              if (found?.state === "done") resolve(found.state);
              else reject(new Error("it is not done"));
            };
            const polling = setInterval(() => void poll(), 30_000);
          }),
        compare: ({ result }) => result,
      }),
  },
  "a wait for a session, with a limit of a minute": {
    told: 0,
    explore: () =>
      reportOf({
        program: async ({ client }) => {
          const signal = AbortSignal.timeout(60_000);
          for (;;) {
            const { state } = await client.sessions.get("ses_1", { signal });
            if (state === "done") return state;
            await pause(2_000);
          }
        },
        compare: ({ result }) => result,
      }),
  },
};

test.each(Object.entries(RIGHT))("not accused: %s", async (_, { told, explore }) => {
  const report = await explore();
  expect(report).toMatchObject({ findings: [], unreached: 0, told, right: report.runs - told });
  expect(report.runs).toBeGreaterThan(0);
});
