import type { Bench, Case, Service } from "./bench.ts";
import { equal } from "./check.ts";

/** A token of the client's own, that it may rotate. */
async function ownToken(bench: Bench, service: Service): Promise<{ id: string; plaintext: string }> {
  const { id, plaintext } = await bench.client(service).tokens.create({
    name: "own",
    scopes: ["projects:read", "sessions:read", "issues:write"],
  });
  return { id, plaintext };
}

export const tokens: readonly Case[] = [
  {
    name: "calls that meet a rotation are sent once more with the new token, writes too",
    run: async (bench) => {
      const service = await bench.service();
      const { id, plaintext } = await ownToken(bench, service);
      const client = bench.client(service, { token: plaintext });
      // The rotation is done on arrival and its response is delayed: the old token is rejected before it arrives.
      await service.fault({ operation: "tokens.rotate", delayMs: 300 });
      const rotation = client.tokens.rotate(id, { adopt: true });
      await service.arrived(2);
      const calls = Array.from({ length: 4 }, (_, index) =>
        client.issues.create("project-1", { title: `issue ${index}`, type: "bug" }),
      );
      const created = await Promise.all(calls);
      await rotation;
      equal(created.map(({ number }) => number).sort(), [1, 2, 3, 4]);
    },
  },
];
