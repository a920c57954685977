/** What keeps a process alive: a call that waits, and nothing else. Each case is a process of its own. */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { bundled } from "../../support/child-program.ts";
import { good, respond, silence } from "../../support/raw-behaviours.ts";
import { type Behaviour, rawServer } from "../../support/raw-server.ts";

const MODULE = bundled(resolve(import.meta.dirname, "../../../src/client/index.ts"));
/**
 * Turns of the event loop, of a millisecond each, from the last output of the program to its end: counted, since a busy
 * machine makes each of them longer. A leaked timer would take a minute.
 */
const PROMPTLY = 100;

interface Ran {
  readonly code: number | null;
  readonly printed: string;
  /** Turns from the last output to the end of the process. */
  readonly lingered: number;
}

async function run(program: string, baseUrl: string): Promise<Ran> {
  const source = `
    import { Client } from ${JSON.stringify(MODULE)};
    const client = new Client({ baseUrl: ${JSON.stringify(baseUrl)}, token: "emu_K1_secret", timeoutMs: 60_000 });
    let turns = 0;
    const turn = () => {
      turns += 1;
      setTimeout(turn, 1).unref();
    };
    const say = (what) => {
      process.stdout.write(what + " ");
      turn();
    };
    process.on("exit", () => process.stdout.write(String(turns)));
    ${program}
  `;
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module", "--eval", source], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const code = await new Promise<number | null>((done) => child.on("close", done));
  const [printed = "", lingered] = output.split(" ");
  return { code, printed, lingered: Number(lingered) };
}

const page: Behaviour = ({ request, ...wire }) => {
  const next = request.target.includes("cursor") ? "c2" : "c1";
  const data = Array.from({ length: 3 }, (_, index) => ({ id: `p${index}`, name: "p" }));
  return respond({ body: JSON.stringify({ data, next_cursor: next }) })({ request, ...wire });
};

const cases: readonly { readonly name: string; readonly script: readonly Behaviour[]; readonly program: string }[] = [
  { name: "nothing was ever called", script: [good], program: `say("done")` },
  { name: "success", script: [good], program: `await client.sessions.get("1"); say("done")` },
  {
    name: "a refusal",
    script: [respond({ status: 404 })],
    program: `await client.sessions.get("1").catch((error) => say(error.kind === "not_found" ? "done" : error))`,
  },
  {
    name: "failures",
    script: [respond({ status: 500 })],
    program: `await client.sessions.get("1", { retry: { minDelayMs: 1 } }).catch(() => say("done"))`,
  },
  {
    name: "a pause that is not waited for",
    script: [respond({ status: 429, headers: [["Retry-After", "60"]] })],
    program: `await client.sessions.get("1", { retry: false }).catch(() => say("done"))`,
  },
  {
    name: "an abort while it backs off",
    script: [respond({ status: 500 })],
    program: `
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 100);
      await client.sessions.get("1", { signal: controller.signal, retry: { minDelayMs: 60_000, maxDelayMs: 60_000 } })
        .catch((error) => say(error.kind === "abort" ? "done" : error));
    `,
  },
  {
    name: "an abort while a pause runs",
    script: [respond({ status: 429, headers: [["Retry-After", "60"]] })],
    program: `
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 100);
      await client.sessions.get("1", { signal: controller.signal }).catch((error) => say(error.kind === "abort" ? "done" : error));
    `,
  },
  {
    name: "an abort while the service is silent",
    script: [silence],
    program: `
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 100);
      await client.sessions.get("1", { signal: controller.signal }).catch((error) => say(error.kind === "abort" ? "done" : error));
    `,
  },
  {
    name: "a timeout",
    script: [silence],
    program: `
      await client.sessions.get("1", { timeoutMs: 100, totalTimeoutMs: 60_000, retry: false })
        .catch((error) => say(error.kind === "timeout" ? "done" : error));
    `,
  },
  {
    name: "a walk that is left early",
    script: [page],
    program: `for await (const project of client.projects.list()) break; say("done")`,
  },
  {
    name: "a walk that is left while the next page is fetched ahead",
    script: [page, silence],
    program: `for await (const project of client.projects.list({}, { prefetch: true })) break; say("done")`,
  },
  {
    name: "a watch that is left",
    script: [good],
    program: `for await (const session of client.sessions.watch("1", { intervalMs: 60_000, maxIntervalMs: 60_000 })) break; say("done")`,
  },
];

describe.concurrent("the process ends promptly after", () => {
  test.each(cases)("$name", async ({ script, program }) => {
    await using server = await rawServer(script);
    const { code, printed, lingered } = await run(program, server.baseUrl);
    expect({ code, printed }).toEqual({ code: 0, printed: "done" });
    expect(lingered).toBeLessThan(PROMPTLY);
  });
});

describe.concurrent("the process lives as long as it waits for", () => {
  const waits: readonly { name: string; script: readonly Behaviour[]; options: string }[] = [
    {
      name: "a pause",
      script: [respond({ status: 429, headers: [["Retry-After", "1"]] }), good],
      options: "{}",
    },
    {
      name: "a backoff",
      script: [respond({ status: 500 }), good],
      options: "{ retry: { minDelayMs: 1_000 } }",
    },
    {
      name: "a 503's Retry-After",
      script: [respond({ status: 503, headers: [["Retry-After", "1"]] }), good],
      options: "{}",
    },
  ];
  test.each(waits)("$name", async ({ script, options }) => {
    await using server = await rawServer(script);
    const program = `client.sessions.get("1", ${options}).then(() => say("done"), say)`;
    const { code, printed } = await run(program, server.baseUrl);
    expect({ code, printed }).toEqual({ code: 0, printed: "done" });
    expect(server.requests).toHaveLength(2);
  });

  test("a session", async () => {
    let asked = 0;
    const body = (): string => JSON.stringify({ id: "1", state: asked > 2 ? "over" : "running" });
    const script = (): Behaviour => (wire) => {
      asked += 1;
      return respond({ body: body() })(wire);
    };
    await using changing = await rawServer(script);
    const program = `
      client.sessions.waitFor("1", { until: ({ state }) => state === "over", intervalMs: 200 }).then(() => say("done"), say)
    `;
    expect(await run(program, changing.baseUrl)).toMatchObject({ code: 0, printed: "done" });
    expect(asked).toBe(3);
  });
});
