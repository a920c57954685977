/** What `matrix.test.ts` does not run of a write whose connection dies: Deno's own clients, and who listens to undici. */
import { expect, test } from "vitest";
import { runProgram } from "../../support/child-program.ts";
import { send, serve } from "../../support/http-server.ts";
import { findRuntimes, type Runtime } from "../runtimes/binaries.ts";

const PROCESSES = findRuntimes().here.filter(({ kind }) => ["node", "bun", "deno"].includes(kind));

/** Runs a program in a process of the runtime, and returns what it prints. */
async function run({ executable, kind }: Runtime, program: string): Promise<string> {
  const flags = kind === "deno" ? ["run", "--no-check", "--allow-all"] : [];
  const { stdout, stderr } = await runProgram(program, { executable, flags });
  expect(stderr).toBe("");
  return stdout.trim();
}

test.each(PROCESSES.filter(({ kind }) => kind === "deno"))(
  "$name, with a client of the application: a DELETE that the platform sent again is ambiguous",
  async (deno) => {
    const { origin, seen } = await serve((response, { method }) => {
      const deletes = seen.filter((request) => request.method === "DELETE").length;
      if (method !== "DELETE") send(response, 200, { id: "1", state: "done" });
      else if (deletes === 1) response.destroy();
      else send(response, 404, { error: "not_found" });
    });
    const told = await run(
      deno,
      `const fetchOptions = { client: Deno.createHttpClient({}) };
      const client = new Client({ baseUrl: "${origin}/api/v1", token: "t", fetchOptions });
      await client.sessions.get("1");
      const { kind, outcome, attempts, priorAmbiguous } = await client.tokens.revoke("t_1").catch((error) => error);
      console.log(JSON.stringify({ kind, outcome, attempts, priorAmbiguous }));`,
    );
    expect(JSON.parse(told)).toEqual({ kind: "not_found", outcome: "unknown", attempts: 1, priorAmbiguous: true });
    expect(seen.filter(({ method }) => method === "DELETE")).toHaveLength(2);
  },
);

// What they publish on the channels of Node says nothing about a write: it may have left before.
test.each(PROCESSES)("$name: the channels of undici are listened to on Node alone", async (runtime) => {
  const heard = await run(
    runtime,
    `import { channel } from "node:diagnostics_channel";
    let heard;
    const fetch = async () => {
      heard = channel("undici:client:connectError").hasSubscribers;
      throw new Error("no");
    };
    const client = new Client({ baseUrl: "https://service.example.com/api/v1", token: "t", fetch, retry: false });
    await client.issues.create("web", { title: "One", type: "bug" }).catch(() => undefined);
    console.log(heard);`,
  );
  expect(heard).toBe(String(runtime.kind === "node"));
});
