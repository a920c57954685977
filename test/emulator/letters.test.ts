import { afterEach, expect, test, vi } from "vitest";
import { type Run, started, stopped } from "./run-command.ts";

afterEach(() => void vi.restoreAllMocks());

const ISSUE = { title: "Broken link", type: "bug" };

/** Sends a request, and resolves with its status; with `"lost"` if the connection broke. */
async function send(running: Run, method: string, path: string): Promise<number | "lost"> {
  const headers = { authorization: `Bearer ${running.variable("TOKEN")}`, "content-type": "application/json" };
  const body = method === "POST" ? JSON.stringify(ISSUE) : null;
  return fetch(running.variable("BASE_URL") + path, { method, headers, body }).then(
    ({ status }) => status,
    () => "lost" as const,
  );
}

const read = (running: Run): Promise<number | "lost"> => send(running, "GET", "/projects");
const write = (running: Run): Promise<number | "lost"> => send(running, "POST", "/projects/web/issues");

async function issues(running: Run): Promise<readonly unknown[]> {
  return (await running.get("/projects/web/issues")).body.data;
}

/** Starts the command, and types a letter once it takes letters. */
async function typed(letter: string, ...flags: string[]): Promise<Run> {
  const running = await started("--list-issues", ...flags);
  await expect.poll(running.out).toContain("a letter and Enter: h lists the letters");
  running.type(letter);
  return running;
}

test.each([[[]], [["--latency", "1"]], [["--fail", "100"]]])(
  "f loses the response of the next write, whatever stands between; flags: %s",
  async (flags) => {
    const running = await typed("f", ...flags);
    const usual = flags.includes("--fail") ? 503 : 200;
    expect(await read(running)).toBe(usual);
    expect(await write(running)).toBe("lost");
    expect(await read(running)).toBe(usual);
    expect(running.out()).toContain("\nthe next write is carried out, and its response is lost\n");
    if (usual === 200) expect(await issues(running)).toHaveLength(1);
    await stopped(running);
  },
);

test("o opens the page, or says its address", async () => {
  const running = await typed("o");
  const page = running.variable("BASE_URL").replace("api/v1", "");
  expect(running.opened).toEqual([page]);
  expect(running.out()).toContain(`\nthe page opens in your browser: ${page}\n`);
  running.type("o");
  await expect.poll(running.out).toContain(`\nno browser could be started: open ${page} yourself\n`);
  expect((await fetch(page)).status).toBe(200);
  await stopped(running);
});

test("r begins a new world with the same token; the faults of letters go, those of flags stay", async () => {
  const running = await typed("f");
  running.type("f");
  expect([await write(running), await read(running)]).toEqual(["lost", 200]);
  running.type("r");
  expect(await issues(running)).toEqual([]);
  expect(await write(running)).toBe(201);
  await stopped(running);

  const failing = await typed("r", "--fail", "100");
  expect(await read(failing)).toBe(503);
  await stopped(failing);
});

test("q ends it with 0; then no letter is taken", async () => {
  const running = await typed("q");
  expect(await running.code).toBe(0);
  const printed = running.out();
  running.type("h");
  expect(running.out()).toBe(printed);
});

test("behind a command that ended, letters begin with --stay", async () => {
  const running = await started("--stay", "--", "node", "app.mjs");
  await expect.poll(running.err).toContain("a letter and Enter");
  running.type("l");
  expect(await read(running)).toBe(429);
  expect(running.err()).toContain("the response to the next request is 429");
  await stopped(running);
});
