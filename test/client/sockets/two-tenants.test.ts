/**
 * A server for the visitors of two tenants, as the guides build it: one client for each tenant, a provider that knows the
 * visitor, one rate limiter, imports with journals, tools for agents. Each visitor's things stay his.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, isAutomationError, memoryRateLimiter } from "project-automation";
import { bulkWrite } from "project-automation/bulk";
import { fileJournal } from "project-automation/bulk/node";
import { createEmulator, type Emulator } from "project-automation/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "../../mcp/hosts.ts";
import { rejection } from "../../support/promises.ts";

interface Tenant {
  readonly baseUrl: string;
  readonly emulator: Emulator;
  readonly client: Client;
}

interface Visitor {
  readonly name: string;
  readonly tenant: Tenant;
  /** The token of the session, and what signing in brings. */
  token: string;
  readonly own: string;
  readonly keyId: string;
}

const present = new AsyncLocalStorage<Visitor>();
let gateway: Server;
let folder: string;
let visitors: readonly Visitor[];
let signIns: string[];

/** Signs a visitor in, which takes a moment. */
async function signIn(visitor: Visitor): Promise<string> {
  signIns.push(visitor.name);
  await new Promise((resolve) => setTimeout(resolve, 5));
  visitor.token = visitor.own;
  return visitor.token;
}

beforeEach(async () => {
  signIns = [];
  folder = mkdtempSync(join(tmpdir(), "two-tenants-"));
  const emulators = new Map<string, Emulator>();
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { url = "", method = "GET" } = request;
    const emulator = emulators.get(url.split("/")[1] ?? "");
    const headers = { "content-type": "application/json", authorization: request.headers.authorization ?? "" };
    const body = chunks.length === 0 ? null : Buffer.concat(chunks).toString();
    const answer = await emulator?.fetch(`${origin}${url}`, { method, headers, body });
    response.writeHead(answer?.status ?? 404, Object.fromEntries(answer?.headers ?? []));
    response.end(await answer?.text());
  };
  gateway = createServer((request, response) => void forward(request, response));
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const origin = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`; // it listens on a port
  const rateLimiter = memoryRateLimiter();
  visitors = ["a", "b"].flatMap((name) => {
    const baseUrl = `${origin}/${name}/api/v1`;
    const emulator = createEmulator({ baseUrl, rateLimit: { limit: 25, windowMs: 300 } });
    emulators.set(name, emulator);
    const client = new Client({
      baseUrl,
      rateLimiter,
      timeoutMs: false,
      token: async ({ rejected }) => {
        const visitor = present.getStore();
        if (visitor === undefined) throw new Error("there is no visitor");
        return rejected === undefined ? visitor.token : await signIn(visitor);
      },
    });
    const tenant: Tenant = { baseUrl, emulator, client };
    const team = emulator.createToken({ scopes: ["issues:write", "projects:read"] });
    emulator.leak(team.plaintext);
    return ["first", "second", "third"].map((which): Visitor => {
      const { plaintext, key_id: keyId } = emulator.createToken({ scopes: ["issues:write", "projects:read"] });
      return { name: `${which} of ${name}`, tenant, token: team.plaintext, own: plaintext, keyId };
    });
  });
});

afterEach(() => {
  gateway.closeAllConnections();
  gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a visit of each visitor, all at once. */
async function visit<Result>(each: (visitor: Visitor) => Promise<Result>): Promise<Result[]> {
  return await Promise.all(visitors.map((visitor) => present.run(visitor, () => each(visitor))));
}

/** What a visitor's requests created at his tenant, and with whose token. */
function expectOwn(): void {
  for (const { tenant } of visitors) {
    for (const { applied, body, token } of tenant.emulator.requests) {
      if (!applied || body === undefined) continue;
      const { title } = body as { title: string }; // only issues have bodies here
      const owner = visitors.find(({ name }) => title.endsWith(name));
      expect([owner?.tenant === tenant, token]).toEqual([true, owner?.keyId]);
    }
  }
}

test("calls, pauses and renewals: each is sent with his own token, at his own tenant, and once", async () => {
  await visit(async ({ name, tenant: { client } }) => {
    const own = Array.from({ length: 12 }, (_, index) =>
      client.issues.create("web", { title: `${index} by ${name}`, type: "bug" }),
    );
    return await Promise.all(own);
  });
  expectOwn();
  expect(new Set(signIns).size).toBe(visitors.length);
  const refused = visitors.map(({ tenant, keyId }) =>
    tenant.emulator.requests.filter(({ status, token }) => status === 429 && token === keyId),
  );
  expect(refused.flat().length).toBeLessThan(visitors.length * 3);
  for (const { tenant } of visitors) expect(tenant.emulator.issues.list("web")).toHaveLength(36);
});

test("a pause of one visitor holds no other, of his tenant or of another", async () => {
  await visit(async ({ tenant: { client } }) => await client.projects.list().page());
  const [first, ...others] = visitors;
  if (first === undefined) throw new Error("there are visitors");
  first.tenant.emulator.fault({
    match: ({ token }) => token === first.keyId,
    status: 429,
    headers: { "retry-after": "3600" },
  });
  const answers = await visit(
    async ({ tenant: { client } }) =>
      await client.projects
        .list({}, { retry: false })
        .page()
        .then(
          () => "listed",
          () => "paused",
        ),
  );
  expect(answers).toEqual(["paused", ...others.map(() => "listed")]);
});

test("imports: a journal of one tenant or visitor is not believed of another", async () => {
  const rows = (name: string) => Array.from({ length: 8 }, (_, index) => `${index} by ${name}`);
  const importInto = async ({ tenant: { client } }: Visitor, file: string) =>
    await bulkWrite({
      client,
      items: rows(file),
      key: (title) => title,
      send: async (bound, title) => await bound.issues.create("web", { title, type: "bug" }),
      journal: fileJournal(join(folder, file)),
    });
  const summaries = await visit(async (visitor) => await importInto(visitor, visitor.name));
  expect(summaries.map(({ done }) => done)).toEqual(visitors.map(() => 8));
  expectOwn();
  // In the hands of a visitor of another tenant, whose emulator begins it anew.
  const [first] = visitors;
  const other = visitors.find(({ tenant }) => tenant !== first?.tenant);
  if (first === undefined || other === undefined) throw new Error("there are two tenants");
  const again = await present.run(other, () => importInto(other, first.name));
  expect(again).toMatchObject({ done: 8, skipped: 0 });
});

test("tools: the same issue of each visitor is his own, and the next time told to him alone", async () => {
  const issue = { project: "web", type: "bug" };
  const call = async ({ name, tenant: { client } }: Visitor, title: string) => {
    const host = await connect(client);
    try {
      return { name, ...(await host.call("create_issue", { ...issue, title })) };
    } finally {
      await host.close();
    }
  };
  const first = await visit(async (visitor) => await call(visitor, "The build failed"));
  const again = await visit(async (visitor) => await call(visitor, "The build failed"));
  expect(first.map(({ structured }) => structured?.["repeated"])).toEqual(visitors.map(() => false));
  expect(again.map(({ structured }) => structured?.["repeated"])).toEqual(visitors.map(() => true));
  expect(again.map(({ structured }) => structured?.["number"])).toEqual(
    first.map(({ structured }) => structured?.["number"]),
  );
  for (const { tenant } of visitors) expect(tenant.emulator.issues.list("web")).toHaveLength(3);
});

test("what one tenant has shown is refused at the other: projects, cursors, tokens", async () => {
  const [a, b] = [visitors[0], visitors[3]];
  if (a === undefined || b === undefined) throw new Error("there are visitors");
  const shown = await present.run(a, async () => await a.tenant.client.projects.list({ limit: 1 }).page());
  const [project] = shown.data;
  if (project === undefined) throw new Error("there is a project");
  const before = b.tenant.emulator.requests.filter(({ applied }) => applied).length;
  const attempts = await present.run(b, async () => [
    await rejection(b.tenant.client.issues.create(project, { title: `x by ${b.name}`, type: "bug" })),
    await rejection(b.tenant.client.projects.list({ cursor: shown.next_cursor ?? "" }).page()),
    await rejection(b.tenant.client.withOptions({ token: a.own }).projects.list().page()),
    await rejection(Promise.resolve().then(() => b.tenant.client.withOptions({ baseUrl: a.tenant.baseUrl }))),
  ]);
  expect(attempts.map((error) => (isAutomationError(error) ? error.kind : String(error)))).toEqual([
    "argument",
    "bad_request",
    "auth",
    "config",
  ]);
  const printed = attempts.map(String).join("\n");
  for (const { own } of visitors) expect(printed).not.toContain(own);
  expect(b.tenant.emulator.issues.list("web")).toEqual([]);
  expect(b.tenant.emulator.requests.filter(({ applied }) => applied)).toHaveLength(before);
});
