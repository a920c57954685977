import type { Case } from "./bench.ts";
import { equal, holds } from "./check.ts";

const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `project-${from + index}`);

export const walks: readonly Case[] = [
  {
    name: "a walk yields every item, page by page, in order",
    run: async (bench) => {
      const service = await bench.service({ projects: 7 });
      const walked: string[] = [];
      for await (const { name } of bench.client(service).projects.list({ limit: 3 })) walked.push(name);
      equal(walked, names(1, 7));
      equal((await service.requests()).length, 3, "requests");
    },
  },
  {
    name: "pages end with a cursor of null",
    run: async (bench) => {
      const client = bench.client(await bench.service({ projects: [{ name: "web", sessions: [{}, {}, {}] }] }));
      const sizes: number[] = [];
      let last: string | null = "";
      for await (const page of client.sessions.list("web", { limit: 2 }).pages()) {
        sizes.push(page.data.length);
        last = page.next_cursor;
      }
      equal({ sizes, last }, { sizes: [2, 1], last: null });
    },
  },
  {
    name: "a walk goes on from a cursor",
    run: async (bench) => {
      const client = bench.client(await bench.service({ projects: 5 }));
      let cursor: string | null = null;
      for await (const page of client.projects.list({ limit: 2 }).pages()) {
        cursor = page.next_cursor;
        break;
      }
      holds(cursor !== null, "a cursor");
      const rest = await client.projects.list({ limit: 2, cursor: cursor ?? undefined }).toArray();
      equal(
        rest.map(({ name }) => name),
        names(3, 5),
      );
    },
  },
  {
    name: "toArray({ max }) requests no page after the one that fills it",
    run: async (bench) => {
      const service = await bench.service({ projects: 9 });
      const some = await bench.client(service).projects.list({ limit: 2 }).toArray({ max: 4 });
      equal([some.length, (await service.requests()).length], [4, 2]);
    },
  },
  {
    name: "a walk that is left requests nothing more",
    run: async (bench) => {
      const service = await bench.service({ projects: 9 });
      const client = bench.client(service);
      for await (const { name } of client.projects.list({ limit: 2 })) if (name === "project-2") break;
      // A request that was on its way would have come before this one's answer.
      await client.projects.list({ limit: 1 }).toArray({ max: 1 });
      equal((await service.requests()).length, 2, "requests");
    },
  },
  {
    name: "a walk with prefetch that is left aborts the request in flight",
    run: async (bench) => {
      const service = await bench.service({ projects: 9 });
      await service.fault({ operation: "projects.list", skip: 1, delayMs: 60_000 });
      for await (const { name } of bench.client(service).projects.list({ limit: 2 }, { prefetch: true })) {
        await service.arrived(2);
        equal(name, "project-1");
        break;
      }
      const [, ahead] = await service.ended(2);
      equal(ahead?.outcome, "aborted");
    },
  },
  {
    name: "an error in a walk has the cursor to continue from",
    run: async (bench) => {
      const service = await bench.service({ projects: 6 });
      await service.fault({ operation: "projects.list", skip: 1, status: 500 });
      const client = bench.client(service, { retry: false });
      const walked: string[] = [];
      const walk = async (): Promise<void> => {
        for await (const { name } of client.projects.list({ limit: 2 })) walked.push(name);
      };
      const { cursor } = await bench.refusal(walk(), "ServerError");
      for await (const { name } of client.projects.list({ limit: 2, cursor: cursor ?? undefined })) walked.push(name);
      equal(walked, names(1, 6));
    },
  },
];
