import type { Case } from "./bench.ts";
import { equal } from "./check.ts";

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
];
