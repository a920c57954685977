import { expect, test } from "vitest";
import { type Run, run, stopped } from "./run-command.ts";

interface Line {
  readonly v: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

interface JsonRun {
  readonly running: Run;
  readonly lines: () => readonly Line[];
  readonly send: (method: string, path: string, body?: unknown) => Promise<unknown>;
}

async function startedAsJson(...flags: string[]): Promise<JsonRun> {
  const running = run("--json", ...flags);
  const lines = (): readonly Line[] =>
    running
      .out()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  await expect.poll(lines).toHaveLength(2);
  const [{ baseUrl, token } = {}] = lines() as readonly { baseUrl?: string; token?: string }[];
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const send: JsonRun["send"] = async (method, path, body) => {
    const response = await fetch(baseUrl + path, { method, headers, body: body ? JSON.stringify(body) : null }).catch(
      () => undefined,
    );
    return response?.json();
  };
  return { running, lines, send };
}

const ISSUE = { title: "Broken link", type: "bug" };
const responses = ({ lines }: JsonRun): readonly unknown[] =>
  lines().flatMap(({ type, request }) => (type === "response" ? [request] : []));

test("begins with listening and a snapshot, and prints nothing else", async () => {
  const json = await startedAsJson();
  const [listening, snapshot] = json.lines();
  expect(listening).toEqual({
    v: 1,
    type: "listening",
    baseUrl: expect.any(String),
    token: expect.stringMatching(/^emu_/),
    page: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
  });
  expect(snapshot).toMatchObject({ v: 1, type: "snapshot", limit: 600, windowMs: 60_000, faults: [], requests: [] });
  expect(snapshot?.["world"]).toMatchObject({ projects: { count: 3 }, sessions: { count: 9 }, issues: { count: 0 } });
  expect(await stopped(json.running)).toBe(0);
  for (const line of json.lines()) expect(line.v).toBe(1);
});

test("a request and its response are one row each, with its fate and the reason", async () => {
  const json = await startedAsJson("--rate-limit", "3");
  json.running.type("f");
  await json.send("POST", "/projects/web/issues", ISSUE);
  json.running.type("d");
  await json.send("POST", "/projects/web/issues", ISSUE);
  await json.send("GET", "/projects");
  await json.send("GET", "/projects/none/sessions/ses_1");
  await json.send("GET", "/projects");
  await expect.poll(() => responses(json)).toHaveLength(5);
  expect(responses(json)).toMatchObject([
    {
      fate: "lost",
      outcome: "dropped",
      why: "a scripted fault broke the connection after the operation was carried out",
    },
    { fate: "not_carried_out", why: "a scripted fault broke the connection before the operation was carried out" },
    { fate: "answered", status: 200, token: { name: "emulator" } },
    { fate: "not_carried_out", status: 404, why: expect.stringMatching(/\w/) },
    {
      fate: "not_carried_out",
      status: 429,
      why: expect.stringMatching(/; all 3 are used, and the window ends in \d+\.\d s$/),
    },
  ]);
  const pause = json.lines().find(({ type }) => type === "pause");
  expect(pause).toMatchObject({ request: "req_5", token: { name: "emulator" } });
  expect(Number(pause?.["until"])).toBeGreaterThan(Number(pause?.["from"]));
  const arrivals = json.lines().filter(({ type }) => type === "request");
  expect(arrivals.map(({ request }) => request)).toMatchObject(Array(5).fill({ fate: "pending" }));
  await stopped(json.running);
});

test("changes of the world and faults are told, and a new world is a snapshot", async () => {
  const json = await startedAsJson();
  const told = (type: string): readonly Line[] => json.lines().filter((line) => line.type === type);
  await json.send("POST", "/projects/web/issues", ISSUE);
  await expect.poll(() => told("world").at(-1)).toMatchObject({ world: { issues: { count: 1, newest: [ISSUE] } } });
  json.running.type("f");
  await expect
    .poll(() => told("fault").at(-1))
    .toMatchObject({ faults: [{ does: "drop after the operation", hits: 0 }] });
  json.running.type("r");
  await expect.poll(() => told("snapshot")).toHaveLength(2);
  expect(told("snapshot").at(-1)).toMatchObject({ requests: [], faults: [], world: { issues: { count: 0 } } });
  await stopped(json.running);
});

test("no line behind the first holds a token, however it is sent", async () => {
  const json = await startedAsJson();
  const made: unknown = await json.send("POST", "/me/tokens", { name: "ci", scopes: ["issues:write"] });
  const { plaintext } = made as { plaintext: string };
  const { token } = json.lines()[0] as unknown as { token: string };
  for (const secret of [plaintext, token]) {
    for (const one of [secret, secret.slice(0, -20), secret.toUpperCase()]) {
      await json.send("GET", `/projects?token=${one}`);
      await json.send("POST", "/projects/web/issues", { title: `use ${one}`, type: "bug" });
    }
  }
  await expect
    .poll(() =>
      JSON.stringify(
        json
          .lines()
          .filter(({ type }) => type === "world")
          .at(-1),
      ),
    )
    .toContain('"count":6');
  const printed = json.running.out().split("\n").slice(1).join("\n").toLowerCase();
  for (const secret of [plaintext, token]) {
    const part = secret.slice(secret.lastIndexOf("_") + 1).slice(0, 6);
    expect(part).toHaveLength(6);
    expect(printed).not.toContain(part);
  }
  expect(printed).toContain("_***");
  await stopped(json.running);
});
