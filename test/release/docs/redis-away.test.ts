/** The set-ups of docs/shared-limits.md while Redis is away, or refuses the password: calls work, and the process ends well. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { RedisServer, SKIPS_REDIS } from "../../support/redis-server.ts";
import { createProject, type Project, problemOf, run } from "./run.ts";
import { snippetsOf } from "./snippets.ts";

const ADDRESS = "redis://cache.internal";
const ENDS = { ioredis: "redis.disconnect();", redis: "redis.destroy();" };
const setUps = snippetsOf("docs/shared-limits.md").filter(({ code }) => code.includes("onEvent"));

describe.skipIf(SKIPS_REDIS).each(["ioredis", "redis"] as const)("with %s", (name) => {
  let project: Project;
  beforeAll(async () => {
    project = await createProject();
  });
  afterAll(() => project.remove());

  async function problemAt(address: string, told: string): Promise<string | undefined> {
    const [setUp] = setUps.filter(({ code }) => code.includes(`from "${name}"`));
    if (setUp === undefined) throw new Error(`docs/shared-limits.md has no ${name}`);
    const heard = 'await new Promise((heard) => redis.once("error", heard));';
    const work = [heard, "await client.projects.list().toArray();", ENDS[name], ""];
    const code = setUp.code.replace(ADDRESS, address) + work.join("\n");
    const conditions = { prints: ["degraded", told] };
    return problemOf(await run(project, { ...setUp, code, conditions }), conditions);
  }

  test("where nothing listens", async () => {
    expect(await problemAt(`redis://127.0.0.1:${await freePort()}`, "ECONNREFUSED")).toBeUndefined();
  });

  test("with a wrong password", async () => {
    await using server = await RedisServer.start(["--requirepass", "right"]);
    expect(await problemAt(`redis://:wrong@127.0.0.1:${server.port}`, "WRONGPASS")).toBeUndefined();
  });
});
