import { expect, test } from "vitest";
import type { PageExchange, PageList } from "../../src/page/events.ts";
import { type RunningEmulator, type StartOptions, startEmulator } from "../../src/testing/node.ts";
import { read, told } from "./events.ts";

const withPage = (options?: StartOptions): Promise<RunningEmulator> => startEmulator({ page: true, ...options });

async function send({ baseUrl, token }: RunningEmulator, line: string, body?: string): Promise<unknown> {
  const [method = "", path = ""] = line.split(" ");
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(baseUrl + path, { method, headers, body: body ?? null }).catch(() => undefined);
  return response?.json();
}

/** What was sent and answered in a request; `undefined` if it is not kept. */
async function exchange({ page }: RunningEmulator, id: string): Promise<PageExchange | undefined> {
  const response = await fetch(new URL(`/_emulator/requests/${id}`, page));
  return response.ok ? ((await response.json()) as PageExchange) : undefined; // the emulator's
}

/** The ids of the requests that pass a filter. */
async function find({ page }: RunningEmulator, query: string): Promise<readonly string[]> {
  const response = await fetch(new URL(`/_emulator/requests/?${query}`, page));
  return ((await response.json()) as PageList).requests.map(({ id }) => id); // the emulator's
}

const issue = (title: string): string => JSON.stringify({ title, type: "bug" });
const CREATE = "POST /projects/web/issues";

test("begins with a snapshot of all that was, and goes on with each change", async () => {
  const at = Date.now();
  await using running = await withPage({ rateLimit: { limit: 2 }, now: () => at });
  await send(running, CREATE, issue("before"));
  await using reader = await read(running);
  const [snapshot] = told(reader, "snapshot");
  expect(snapshot).toMatchObject({
    limit: 2,
    counts: { accepted: 1, refused: 0, failed: 0, lost: 0 },
    steps: [{ accepted: 1 }],
    requests: [{ id: "req_1", fate: "answered", operation: "issues.create" }],
    world: { issues: { count: 1, newest: [{ title: "before", project: "web" }] } },
  });
  running.emulator.fault({ drop: "after" });
  await send(running, CREATE, issue("lost"));
  await send(running, CREATE, issue("refused"));
  await expect.poll(() => told(reader, "pause")).toHaveLength(1);
  const rows = told(reader, "response").map(({ request }) => request);
  expect(rows).toMatchObject([
    { id: "req_2", fate: "lost", outcome: "dropped" },
    { id: "req_3", fate: "not_carried_out", status: 429, why: expect.stringContaining("all 2 are used") },
  ]);
  expect(await exchange(running, "req_2")).toMatchObject({
    v: 1,
    request: rows[0],
    sent: { body: issue("lost"), cut: 0 },
  });
  expect(await exchange(running, "req_3")).toMatchObject({
    request: rows[1],
    response: { headers: { "retry-after": "60" }, body: expect.stringContaining("too_many_requests"), cut: 0 },
  });
  await expect.poll(() => told(reader, "world").at(-1)?.world.issues.count).toBe(2);
  await using late = await read(running);
  expect(told(late, "snapshot")).toMatchObject([
    { counts: { accepted: 1, refused: 1, failed: 0, lost: 1 }, pauses: [{ token: { name: "emulator" } }] },
  ]);
});

test("a snapshot has the last 500 requests, and counts all; a filter finds the others", async () => {
  await using running = await withPage({ rateLimit: false });
  await send(running, CREATE, issue(""));
  for (let round = 0; round < 26; round += 1)
    await Promise.all(Array.from({ length: 20 }, () => send(running, "GET /projects")));
  await using reader = await read(running);
  const [snapshot] = told(reader, "snapshot");
  expect(snapshot?.requests).toHaveLength(500);
  expect(snapshot?.counts.accepted).toBe(520);
  expect(snapshot?.steps.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(520);
  expect(snapshot?.requests.at(-1)?.index).toBe(520);
  for (const query of ["failed", "text=post", "failed&text=422+web"])
    expect(await find(running, query)).toEqual(["req_1"]);
  expect(await find(running, "text=get")).toHaveLength(500);
  expect(await find(running, "failed&text=get")).toEqual([]);
  const other = await fetch(new URL("/_emulator/requests/?status=500", running.page));
  expect([other.status, await other.text()]).toEqual([400, "the query may have failed and text\n"]);
});

test("responses that a page in view has seen are kept, 1,000 of them; of others the page says why they are not", async () => {
  await using running = await withPage({ rateLimit: false });
  await send(running, CREATE, issue("unseen"));
  expect((await exchange(running, "req_1"))?.missing).toContain("no page was in view");
  await using reader = await read(running);
  for (let round = 0; round < 19; round += 1)
    await Promise.all(Array.from({ length: 16 }, () => send(running, CREATE, issue("seen"))));
  await expect.poll(() => told(reader, "response")).toHaveLength(304);
  const seen = await Promise.all([2, 305].map((number) => exchange(running, `req_${number}`)));
  for (const { response, missing } of seen.map((one) => one ?? expect.fail("it is not in the log")))
    expect([response?.body.includes("seen"), missing]).toEqual([true, undefined]);
  const { emulator, baseUrl, token } = running;
  for (let count = 0; count < 800; count += 1)
    await emulator.fetch(`${baseUrl}/projects`, { headers: { authorization: `Bearer ${token}` } });
  for (const id of ["req_1", "req_2"])
    expect((await exchange(running, id))?.missing).toContain("the responses to the last 1,000 requests");
  expect((await exchange(running, "req_305"))?.response).toBeDefined();
});

test("long bodies are cut, and logLimit bounds what is kept", async () => {
  await using running = await withPage({ logLimit: 11 });
  await using reader = await read(running);
  for (let count = 0; count < 12; count += 1) await send(running, CREATE, issue("ü".repeat(20_000)));
  await expect.poll(() => told(reader, "response")).toHaveLength(12);
  const last = await exchange(running, "req_12");
  for (const message of [last?.sent, last?.response]) {
    expect(Buffer.byteLength(message?.body ?? "")).toBeLessThanOrEqual(16 * 1024);
    expect(Buffer.byteLength(message?.body ?? "") + (message?.cut ?? 0)).toBeGreaterThan(40_000);
  }
  expect(await exchange(running, "req_1")).toBeUndefined();
  expect(await exchange(running, "none")).toBeUndefined();
  await using late = await read(running);
  const kept = told(late, "snapshot")[0]?.requests ?? [];
  expect([kept.length, kept.at(-1)?.id]).toEqual([11, "req_12"]);
});

test("nothing that was sent holds a token or a plaintext", async () => {
  await using running = await withPage({ listIssues: true });
  await using reader = await read(running);
  const made = await send(running, "POST /me/tokens", JSON.stringify({ name: "ci", scopes: ["issues:write"] }));
  const { plaintext, id } = made as { plaintext: string; id: string };
  const rotated = (await send(running, `POST /me/tokens/${id}/rotate`)) as { plaintext: string };
  const secrets = [plaintext, rotated.plaintext, running.token, running.emulator.createToken({ scopes: [] }).plaintext];
  for (const secret of secrets) {
    expect(secret).toMatch(/^emu_\w+_\w{32}$/);
    for (const one of [secret, secret.slice(0, -20), secret.toUpperCase()]) {
      await send(running, `GET /projects?cursor=${encodeURIComponent(one)}`);
      await send(running, CREATE, `{"title":"use ${one}","type":"bug"}`);
      await send(running, CREATE, issue(JSON.stringify({ plaintext: one })));
      await send(running, CREATE, issue("x".repeat(16_330) + one)); // cut within it
      await fetch(running.baseUrl, {
        headers: {
          "x-trace": one,
          "x-api-key": "of-another-service",
          cookie: `a=${one}`,
          authorization: `Basic ${btoa(one)}`,
        },
      });
    }
  }
  running.emulator.fault({ body: { plaintext: "of-another-form", other: "kept-body" } });
  await send(running, "GET /projects");
  const all = running.emulator.requests.length;
  await expect.poll(() => told(reader, "response").length).toBe(all);
  await expect.poll(() => told(reader, "world").at(-1)?.world.issues.count).toBeGreaterThan(10);
  await using late = await read(running);
  const ids = told(late, "snapshot").flatMap(({ requests }) => requests.map(({ id: one }) => one));
  const exchanges = await Promise.all(ids.map((one) => exchange(running, one)));
  expect(await find(running, "text=cursor")).not.toEqual([]);
  for (const secret of secrets) expect(await find(running, `text=${secret.slice(0, -24)}`)).toEqual([]);
  for (const text of [reader.text(), late.text() + JSON.stringify(exchanges)]) {
    const parts = secrets.flatMap((secret) => {
      const own = secret.slice(secret.lastIndexOf("_") + 1);
      return [own.slice(0, 8), own.slice(-8), btoa(secret).slice(-12)];
    });
    const lower = text.toLowerCase();
    const leaks = parts.map((part) => lower.indexOf(part.toLowerCase())).filter((at) => at >= 0);
    expect(leaks.map((at) => text.slice(at - 60, at + 20))).toEqual([]);
    expect(text.includes("_***")).toBe(true);
    expect(text.includes("of-another-form") || text.includes("of-another-service")).toBe(false);
  }
});

test("each request of the log is told, also one over emulator.fetch", async () => {
  await using running = await withPage();
  await using reader = await read(running);
  const { emulator, baseUrl, token } = running;
  await emulator.fetch(`${baseUrl}/projects`, { headers: { authorization: `Bearer ${token}` } });
  await expect.poll(() => told(reader, "response")).toMatchObject([{ request: { id: "req_1", fate: "answered" } }]);
});

test("a request that is under way is in the snapshot, with what was sent", async () => {
  await using running = await withPage();
  running.emulator.fault({ delayMs: Number.POSITIVE_INFINITY });
  void send(running, CREATE, issue("waiting"));
  await expect.poll(() => running.emulator.requests).toHaveLength(1);
  await using reader = await read(running);
  expect(told(reader, "snapshot")).toMatchObject([
    { requests: [{ id: "req_1", fate: "pending" }], counts: { accepted: 0 } },
  ]);
  const seen = await exchange(running, "req_1");
  expect([seen?.sent.body, seen?.response]).toEqual([issue("waiting"), undefined]);
});

test("a new world and a new rate limit are a snapshot; a request of the old world is not told in the new one", async () => {
  await using running = await withPage();
  await using reader = await read(running);
  running.emulator.fault({ delayMs: 300 });
  const slow = send(running, "GET /projects");
  await expect.poll(() => told(reader, "request")).toHaveLength(1);
  running.emulator.reset();
  await slow;
  await send(running, "GET /projects");
  await expect.poll(() => told(reader, "response")).toHaveLength(1);
  expect(told(reader, "snapshot")).toHaveLength(2);
  expect(told(reader, "snapshot")[1]).toMatchObject({ counts: { accepted: 0 }, steps: [] });
  running.emulator.setRateLimit({ limit: 7, windowMs: 500 });
  await expect.poll(() => told(reader, "snapshot").at(-1)).toMatchObject({ limit: 7, windowMs: 500 });
  expect(told(reader, "snapshot").at(-1)?.requests).toHaveLength(1);
});
