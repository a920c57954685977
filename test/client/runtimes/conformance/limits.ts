import type { Case } from "./bench.ts";
import { equal, holds } from "./check.ts";

const issue = (title: string): { title: string; type: string } => ({ title, type: "bug" });

export const limits: readonly Case[] = [
  {
    name: "a rate limit is waited out: every issue once, none lost",
    run: async (bench) => {
      const service = await bench.service({ rateLimit: { limit: 5, windowMs: 1_500 } });
      const events: string[] = [];
      const client = bench.client(service, { onEvent: ({ type }) => events.push(type) });
      const titles = Array.from({ length: 8 }, (_, index) => `issue ${index}`);
      const created = await Promise.all(titles.map((title) => client.issues.create("project-1", issue(title))));
      equal(
        created.map(({ number }) => number).sort(),
        titles.map((_, index) => index + 1),
        "numbers",
      );
      const log = await service.requests();
      equal(log.filter(({ status }) => status === 201).length, 8, "created");
      equal(new Set(log.map(({ status }) => status)).size, 2, "201 and 429");
      for (const type of ["rate_limit_pause", "rate_limit_resume"]) holds(events.includes(type), type);
    },
  },
  {
    name: "a 429 is sent again when its Retry-After is over, and not before",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ status: 429, headers: { "retry-after": "1" }, body: { error: "too_many_requests" } });
      await bench.client(service).issues.create("project-1", issue("Once"));
      const [refused, sent] = await service.requests();
      const waited = (sent?.at ?? 0) - (refused?.at ?? 0);
      // Both are stamped in whole milliseconds.
      holds(waited >= 999, `a wait of 1 s, not ${waited} ms`);
    },
  },
];
