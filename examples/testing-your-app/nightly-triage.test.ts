import { Client } from "project-automation";
import { createEmulator, type Emulator, type EmulatorOptions, type ProjectSeed } from "project-automation/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { triage } from "./nightly-triage.ts";

// One clock for both: the client waits by these timers, and the emulator's windows end by this Date.
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const broken = (name: string): ProjectSeed => ({
  id: `prj_${name}`,
  name,
  sessions: [{ id: `ses_${name}`, state: "failed" }],
});
const healthy = (name: string): ProjectSeed => ({ name, sessions: [{ state: "done" }, { state: "running" }] });
const many = (count: number, seed: (name: string) => ProjectSeed): ProjectSeed[] =>
  Array.from({ length: count }, (_, index) => seed(`p${index + 1}`));

function start(options: EmulatorOptions): { emulator: Emulator; client: Client } {
  const emulator = createEmulator(options);
  return { emulator, client: new Client(emulator.clientOptions) };
}

/** Lets as much time pass as the work takes: by the second, so that answers come before budgets run out. */
async function inNoTime<Result>(work: Promise<Result>): Promise<Result> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  while (!isOver) await vi.advanceTimersByTimeAsync(1_000);
  return work;
}

const sent = (emulator: Emulator, operation: string) =>
  emulator.requests.filter((request) => request.operation === operation);

describe("state", () => {
  test("an issue is filed where sessions failed, and only there", async () => {
    const { emulator, client } = start({ projects: [broken("web"), healthy("docs"), broken("team/api")] });
    emulator.sessions.create("web", { id: "ses_late", state: "failed" });

    expect(await triage(client)).toEqual({
      projects: [
        { project: "web", result: "filed", issue: 1 },
        { project: "docs", result: "fine" },
        { project: "team/api", result: "filed", issue: 1 },
      ],
      brokeOffAt: undefined,
    });
    expect(emulator.issues.list("web")).toEqual([
      { number: 1, title: "Failed agent sessions: ses_web, ses_late", type: "bug", status: "open" },
    ]);
    expect(emulator.issues.list("docs")).toEqual([]);
  });

  test("a token that may not file issues is told for each project, and the healthy ones are still fine", async () => {
    const { emulator, client } = start({ projects: [broken("web"), healthy("docs")] });
    const { plaintext } = emulator.createToken({ scopes: ["projects:read", "sessions:read"] });

    const { projects } = await triage(client.withOptions({ token: plaintext }));
    expect(projects).toMatchObject([
      { project: "web", result: "failed", reason: expect.stringContaining("issues:write") as string },
      { project: "docs", result: "fine" },
    ]);
  });
});

describe("what the API documentation does not show", () => {
  test("is set to what the service does: here, a list ends without next_cursor, which the client refuses", async () => {
    const { client } = start({ projects: [broken("web")], conventions: { endOfList: "missing" } });

    const { projects, brokeOffAt } = await triage(client);
    expect(projects).toEqual([]);
    expect(brokeOffAt?.reason).toContain("next_cursor");
  });
});

describe("sessions that go on", () => {
  test("a session is waited for, state by state", async () => {
    const { emulator, client } = start({ sessionStates: ["queued", "running", "failed"], projects: [{ name: "web" }] });
    const [session] = emulator.sessions.list("web");

    const ended = client.sessions.waitFor(session?.id ?? "", { until: ({ state }) => state === "failed" });
    expect(await inNoTime(ended)).toMatchObject({ state: "failed" });
    expect(sent(emulator, "sessions.get")).toHaveLength(3);
  });
});

describe("the request log", () => {
  test("at most so many projects are worked on at once", async () => {
    const { emulator, client } = start({ projects: many(20, healthy) });
    emulator.fault({ operation: "sessions.list", times: Infinity, delayMs: 100 });

    const { projects } = await inNoTime(triage(client, { concurrency: 3 }));
    expect(projects).toHaveLength(20);
    expect(Math.max(...emulator.requests.map(({ inFlight }) => inFlight))).toBe(2); // besides the one that came
  });
});

describe("time", () => {
  test("a rate limit is waited out: a minute passes in no time, and nothing is lost or filed twice", async () => {
    const { emulator, client } = start({ projects: many(12, broken), rateLimit: { limit: 20 } });
    const began = Date.now();

    const { projects } = await inNoTime(triage(client));
    expect(projects.map(({ result }) => result)).toEqual(Array(12).fill("filed"));
    for (const { id } of emulator.projects.list()) expect(emulator.issues.list(id)).toHaveLength(1);
    const answered = emulator.requests.filter(({ status }) => status !== 429);
    const waited = answered.filter(({ at }) => at - began >= 60_000);
    expect([answered.length, waited.length]).toEqual([25, 5]);
  });

  test("a service that is away for a moment is asked again", async () => {
    const { emulator, client } = start({ projects: [broken("web")] });
    emulator.fault({ operation: "sessions.list", status: 503, headers: { "retry-after": "30" } });

    const { projects } = await inNoTime(triage(client));
    expect(projects).toEqual([{ project: "web", result: "filed", issue: 1 }]);
    expect(sent(emulator, "sessions.list").map(({ status }) => status)).toEqual([503, 200]);
  });
});

describe("faults", () => {
  test("an answer that is lost leaves it open whether there is an issue; it is not filed again", async () => {
    const { emulator, client } = start({ projects: [broken("web"), broken("docs")] });
    emulator.fault({ match: ({ path }) => path === "/projects/prj_web/issues", drop: "after" });

    const { projects } = await triage(client);
    expect(projects).toMatchObject([
      { project: "web", result: "unsure" },
      { project: "docs", result: "filed" },
    ]);
    expect(sent(emulator, "issues.create")).toHaveLength(2);
    expect(emulator.issues.list("web")).toHaveLength(1);
  });

  test.each(["before", "after"] as const)(
    "where issues can be listed, the program looks for itself: connection lost %s the issue was filed",
    async (drop) => {
      const { emulator, client } = start({ projects: [broken("web")], listIssues: true });
      emulator.fault({ operation: "issues.create", drop });

      const { projects } = await triage(client, { canListIssues: true });
      expect(projects).toMatchObject([{ project: "web", result: drop === "after" ? "filed" : "failed" }]);
      expect(emulator.issues.list("web")).toHaveLength(drop === "after" ? 1 : 0);
      expect(sent(emulator, "issues.create")).toHaveLength(1);
    },
  );

  test("where issues can be listed, a second start in the same night files nothing twice", async () => {
    const { emulator, client } = start({ projects: [broken("web"), broken("docs")], listIssues: true });
    emulator.fault({ match: ({ path }) => path === "/projects/prj_web/issues", skip: 1, drop: "before" });

    const first = await triage(client, { canListIssues: true });
    expect(first.projects.map(({ result }) => result).sort()).toEqual(["failed", "filed"]);
    const second = await triage(client, { canListIssues: true });
    expect(second.projects.map(({ result }) => result)).toEqual(["filed", "filed"]);
    for (const { id } of emulator.projects.list()) expect(emulator.issues.list(id)).toHaveLength(1);
  });

  test("a refusal leaves nothing open", async () => {
    const { emulator, client } = start({ projects: [broken("web")] });
    emulator.fault({ operation: "issues.create", status: 409 });

    expect((await triage(client)).projects).toMatchObject([{ project: "web", result: "failed" }]);
    expect(emulator.issues.list("web")).toEqual([]);
  });

  test("a walk that breaks off goes on from there in the next run", async () => {
    const { emulator, client } = start({ projects: many(60, broken) }); // a page has 50
    const outage = emulator.fault({ operation: "projects.list", skip: 1, times: Infinity, status: 500 });

    const { projects, brokeOffAt } = await inNoTime(triage(client));
    expect(projects).toHaveLength(50);
    expect(brokeOffAt).toMatchObject({ cursor: expect.any(String) as string });

    outage.remove();
    const second = await triage(client, { cursor: brokeOffAt?.cursor });
    expect(second.projects.map(({ project }) => project)).toEqual(
      many(60, broken)
        .map(({ name }) => name)
        .slice(50),
    );
    for (const { id } of emulator.projects.list()) expect(emulator.issues.list(id)).toHaveLength(1);
  });
});
