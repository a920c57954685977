/** The memory of created issues is told to the token alone that wrote them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { Client, type ClientOptions, rotatingToken } from "project-automation";
import { type Journal, type JournalRecord, memoryJournal } from "project-automation/bulk";
import { createEmulator, type Emulator } from "project-automation/testing";
import { startEmulator } from "project-automation/testing/node";
import { afterEach, describe, expect, test, vi } from "vitest";
import { connect, type Host } from "./hosts.ts";

const ISSUE = { project: "web", title: "Payroll of Alice is wrong", type: "bug" };
const SCOPES = ["issues:write", "projects:read"] as const;

const hosts: Host[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
});

async function hostOf(client: Client, journal?: Journal): Promise<Host> {
  const host = await connect(client, { journal });
  hosts.push(host);
  return host;
}

const clientOf = (emulator: Emulator, token: NonNullable<ClientOptions["token"]>): Client =>
  new Client({ ...emulator.clientOptions, token, retry: { minDelayMs: 1 } });
const tokenOf = (emulator: Emulator): string => emulator.createToken({ scopes: SCOPES }).plaintext;
const created = (emulator: Emulator): number => emulator.issues.list("web").length;

/** The same journal for the next process. */
const nextOf = (journal: Journal): Journal => ({
  load: () => journal.load(),
  append: (records) => journal.append(records),
});

/** Calls the tool for an issue that another token may have created: nothing of it is told, and nothing is sent. */
async function expectDoubt(host: Host, emulator: Emulator): Promise<void> {
  const before = emulator.requests.length;
  const { isError, text, structured } = await host.call("create_issue", ISSUE);
  expect([isError, structured]).toEqual([true, undefined]);
  expect(text).toContain("made with another token, may have created this issue");
  expect(text).not.toMatch(/number|\d{4}-\d\d-\d\d/);
  expect(emulator.requests).toHaveLength(before);
}

test("users whom one provider tells apart have no memory in common, and each has one of his own", async () => {
  const emulator = createEmulator();
  const user = { token: tokenOf(emulator) };
  const host = await hostOf(clientOf(emulator, () => user.token));
  const alice = user.token;
  const [bob, carol] = [tokenOf(emulator), tokenOf(emulator)];
  for (const [index, token] of [alice, bob, carol].entries()) {
    user.token = token;
    expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: index + 1, repeated: false });
  }
  for (const [index, token] of [alice, bob, carol].entries()) {
    user.token = token;
    expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: index + 1, repeated: true });
  }
  expect(created(emulator)).toBe(3);
});

test("calls of two users at one moment answer each with his own issue", async () => {
  const emulator = createEmulator();
  const visitor = new AsyncLocalStorage<string>();
  const client = clientOf(emulator, () => visitor.getStore() ?? "not_signed_in");
  const tokens = [tokenOf(emulator), tokenOf(emulator)];
  const each = await Promise.all(
    tokens.map((token) => visitor.run(token, async () => (await hostOf(client)).call("create_issue", ISSUE))),
  );
  expect(each.map(({ structured }) => structured?.["repeated"])).toEqual([false, false]);
  expect(created(emulator)).toBe(2);
});

test("a renewal in a call hands over what the refused token wrote", async () => {
  const emulator = createEmulator();
  let token = tokenOf(emulator);
  const renewed = tokenOf(emulator);
  const host = await hostOf(
    clientOf(emulator, ({ rejected }) => {
      if (rejected !== undefined) token = renewed;
      return token;
    }),
  );
  expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ repeated: false });
  emulator.leak(token);
  await host.call("create_issue", { ...ISSUE, title: "Another" }); // is refused, and renews
  expect(token).toBe(renewed);
  expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 1, repeated: true });
  expect(created(emulator)).toBe(2);
});

test("after setToken an issue of the token before is a doubt; its own token knows it again", async () => {
  const emulator = createEmulator();
  const [alice, bob] = [tokenOf(emulator), tokenOf(emulator)];
  const client = clientOf(emulator, alice);
  const host = await hostOf(client);
  await host.call("create_issue", ISSUE);
  client.setToken(bob);
  await expectDoubt(host, emulator);
  expect((await host.call("create_issue", { ...ISSUE, again: true })).structured).toMatchObject({ number: 2 });
  expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 2, repeated: true });
  client.setToken(alice);
  expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 1, repeated: true });
});

test("an entry of another token in a journal is a doubt, for a token and for a provider", async () => {
  const emulator = createEmulator();
  const journal = memoryJournal();
  await (await hostOf(clientOf(emulator, tokenOf(emulator)), journal)).call("create_issue", ISSUE);
  const other = tokenOf(emulator);
  for (const token of [other, () => other]) {
    await expectDoubt(await hostOf(clientOf(emulator, token), nextOf(journal)), emulator);
  }
});

test("an adopted rotation hands the memory over, in the journal as well", async () => {
  const emulator = createEmulator();
  const journal = memoryJournal();
  const { id, plaintext } = emulator.createToken({ scopes: SCOPES });
  const client = clientOf(emulator, plaintext);
  const host = await hostOf(client, journal);
  await host.call("create_issue", ISSUE);
  const rotated = await client.tokens.rotate(id, { adopt: true });
  const own = { number: 1, repeated: true };
  expect((await host.call("create_issue", ISSUE)).structured).toMatchObject(own);
  const next = await hostOf(clientOf(emulator, rotated.plaintext), nextOf(journal));
  expect((await next.call("create_issue", ISSUE)).structured).toMatchObject(own);
  expect(created(emulator)).toBe(1);
  const records: JournalRecord[] = [];
  for await (const record of await journal.load()) records.push(record);
  expect(new Set(records.map(({ token }) => token)).size).toBe(2);
  expect(JSON.stringify(records)).not.toContain(plaintext);
});

test("the journal tells the services of its entries apart: another emulator at one address is another", async () => {
  const [one, two] = [createEmulator(), createEmulator()];
  const journal = memoryJournal();
  await (await hostOf(clientOf(one, one.token), journal)).call("create_issue", ISSUE);
  const host = await hostOf(clientOf(two, two.token), nextOf(journal));
  expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 1, repeated: false });
  expect([created(one), created(two)]).toEqual([1, 1]);
});

test("each of two users who shared a token knows what it wrote, once it is renewed for him", async () => {
  const emulator = createEmulator();
  const visitor = new AsyncLocalStorage<{ token: string; own: string }>();
  const client = clientOf(emulator, ({ rejected }) => {
    const user = visitor.getStore() ?? { token: "not_signed_in", own: "not_signed_in" };
    if (rejected !== undefined) user.token = user.own;
    return user.token;
  });
  const shared = tokenOf(emulator);
  const users = [1, 2].map(() => ({ token: shared, own: tokenOf(emulator) }));
  const call = (user: (typeof users)[number], issue: object): Promise<{ structured?: unknown }> =>
    visitor.run(user, async () => (await hostOf(client)).call("create_issue", { ...ISSUE, ...issue }));
  for (const user of users) await call(user, {});
  emulator.leak(shared);
  for (const [index, user] of users.entries()) await call(user, { title: `Another of ${index}` });
  for (const user of users) expect(await call(user, {})).toMatchObject({ structured: { number: 1, repeated: true } });
  const [first] = users.map((user) => call(user, { title: "Another of 1" })); // from here on they are users apart
  expect(await first).toMatchObject({ structured: { repeated: false } });
  expect(created(emulator)).toBe(4);
});

test("a renewal in a tool that only reads hands over, too", async () => {
  const emulator = createEmulator();
  let token = tokenOf(emulator);
  const renewed = tokenOf(emulator);
  const host = await hostOf(
    clientOf(emulator, ({ rejected }) => {
      if (rejected !== undefined) token = renewed;
      return token;
    }),
  );
  await host.call("create_issue", ISSUE);
  emulator.leak(token);
  await host.call("list_projects", {});
  expect(token).toBe(renewed);
  expect((await host.call("create_issue", ISSUE)).structured).toMatchObject({ number: 1, repeated: true });
});

describe("a token that is replaced outside of the tools hands over, in the journal as well", () => {
  const own = { number: 1, repeated: true };
  const tokensIn = async (journal: Journal): Promise<number> => {
    const tokens = new Set<unknown>();
    for await (const { token } of await journal.load()) tokens.add(token);
    return tokens.size;
  };
  const again = async (emulator: Emulator, token: string, journal: Journal) => {
    await expect.poll(() => tokensIn(journal)).toBe(2); // a record is a turn of the platform away
    return (await (await hostOf(clientOf(emulator, token), nextOf(journal))).call("create_issue", ISSUE)).structured;
  };

  test("by an adopted rotation: the journal has it before another tool is called", async () => {
    const emulator = createEmulator();
    const journal = memoryJournal();
    const { id, plaintext } = emulator.createToken({ scopes: SCOPES });
    const client = clientOf(emulator, plaintext);
    await (await hostOf(client, journal)).call("create_issue", ISSUE);
    const rotated = await client.withOptions({ timeoutMs: 5_000 }).tokens.rotate(id, { adopt: true });
    expect(await again(emulator, rotated.plaintext, journal)).toMatchObject(own);
  });

  test("by a rotatingToken", async () => {
    const emulator = createEmulator();
    const journal = memoryJournal();
    const { id, plaintext } = emulator.createToken({ scopes: SCOPES });
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const token = rotatingToken({ token: { id, plaintext, expires_at }, renewBeforeMs: 1, onRotated: () => {} });
    const client = clientOf(emulator, token);
    await (await hostOf(client, journal)).call("create_issue", ISSUE);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 120_000 });
    await client.projects.list().page();
    vi.useRealTimers();
    expect(token.latest().plaintext).not.toBe(plaintext);
    expect(await again(emulator, token.latest().plaintext, journal)).toMatchObject(own);
  });

  test("by a renewal of a provider", async () => {
    const emulator = createEmulator();
    const journal = memoryJournal();
    let token = tokenOf(emulator);
    const renewed = tokenOf(emulator);
    const provider = ({ rejected }: { rejected?: string }): string => {
      if (rejected !== undefined) token = renewed;
      return token;
    };
    const client = clientOf(emulator, provider);
    await (await hostOf(client, journal)).call("create_issue", ISSUE);
    emulator.leak(token);
    await client.projects.list().page();
    expect(await again(emulator, renewed, journal)).toMatchObject(own);
  });

  test("before this process has opened the journal that an earlier one has written", async () => {
    const emulator = createEmulator();
    const journal = memoryJournal();
    const { id, plaintext } = emulator.createToken({ scopes: SCOPES });
    await (await hostOf(clientOf(emulator, plaintext), journal)).call("create_issue", ISSUE);
    const client = clientOf(emulator, plaintext);
    const host = await hostOf(client, nextOf(journal));
    await client.tokens.rotate(id, { adopt: true });
    expect((await host.call("create_issue", ISSUE)).structured).toMatchObject(own);
  });

  test("a journal that fails just then is told when it is opened again", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const emulator = createEmulator();
    const journal = memoryJournal();
    let isFull = false;
    const filling: Journal = {
      load: () => journal.load(),
      append: (records) => {
        if (isFull) throw new Error("the disk is full");
        return journal.append(records);
      },
    };
    const { id, plaintext } = emulator.createToken({ scopes: SCOPES });
    const client = clientOf(emulator, plaintext);
    const host = await hostOf(client, filling);
    await host.call("create_issue", ISSUE);
    isFull = true;
    const { plaintext: rotated } = await client.tokens.rotate(id, { adopt: true });
    isFull = false;
    expect((await host.call("create_issue", ISSUE)).structured).toMatchObject(own);
    expect(await again(emulator, rotated, journal)).toMatchObject(own);
    vi.restoreAllMocks();
  });

  test("a token that was swapped by hand hands nothing over", async () => {
    const emulator = createEmulator();
    const journal = memoryJournal();
    const client = clientOf(emulator, tokenOf(emulator));
    const host = await hostOf(client, journal);
    await host.call("create_issue", ISSUE);
    const other = emulator.createToken({ scopes: SCOPES });
    client.setToken(other.plaintext);
    await expectDoubt(host, emulator);
    const rotated = await client.tokens.rotate(other.id, { adopt: true });
    await expectDoubt(host, emulator);
    await expectDoubt(await hostOf(clientOf(emulator, rotated.plaintext), nextOf(journal)), emulator);
  });
});

describe("two spellings of one project", () => {
  const emulator = createEmulator();
  const client = clientOf(emulator, emulator.token);

  test("its name and its id are a doubt, two projects are two", async () => {
    const host = await hostOf(client);
    const [web, api] = await client.projects.list().toArray();
    if (web === undefined || api === undefined) throw new Error("the emulator has three projects");
    await host.call("create_issue", ISSUE);
    const doubt = await host.call("create_issue", { ...ISSUE, project: web.id });
    expect([doubt.isError, doubt.text]).toEqual([true, expect.stringContaining("another spelling of this project")]);
    expect((await host.call("create_issue", { ...ISSUE, project: api.id })).structured).toMatchObject({ number: 1 });
    expect((await host.call("create_issue", { ...ISSUE, project: "api" })).isError).toBe(true);
    expect((await host.call("create_issue", { ...ISSUE, project: "docs" })).structured).toMatchObject({ number: 1 });
    expect(["web", "api", "docs"].map((project) => emulator.issues.list(project).length)).toEqual([1, 1, 1]);
  });

  test("at one moment one issue is created, and two of two projects", async () => {
    const host = await hostOf(client);
    const [web, api] = await client.projects.list().toArray();
    if (web === undefined || api === undefined) throw new Error("the emulator has three projects");
    const call = (project: string, title: string) => host.call("create_issue", { ...ISSUE, project, title });
    const [inWeb, inApi] = [created(emulator), emulator.issues.list("api").length];
    const spelt = await Promise.all([call("web", "At once"), call(web.id, "At once"), call("web", "At once")]);
    const others = await Promise.all([call("web", "Of two"), call("api", "Of two"), call(api.id, "Of two")]);
    expect(spelt.map(({ isError }) => isError)).toEqual([false, true, false]);
    expect(spelt[2]?.structured).toMatchObject({ repeated: true });
    expect(others.map(({ isError }) => isError)).toEqual([false, false, true]);
    expect([created(emulator), emulator.issues.list("api").length]).toEqual([inWeb + 2, inApi + 1]);
  });

  test("a list that cannot be read tells nothing: a doubt, and again: true sends", async () => {
    const blind = clientOf(emulator, emulator.createToken({ scopes: ["issues:write"] }).plaintext);
    const host = await hostOf(blind);
    const issue = { ...ISSUE, title: "Unseen" };
    await host.call("create_issue", issue);
    expect((await host.call("create_issue", { ...issue, project: "api" })).isError).toBe(true);
    const sent = await host.call("create_issue", { ...issue, project: "api", again: true });
    expect(sent.structured).toMatchObject({ title: "Unseen", repeated: false });
  });
});

test("two hosts of loopback may be one service: a doubt", async () => {
  const server = await startEmulator();
  const journal = memoryJournal();
  try {
    for (const host of ["127.0.0.1", "localhost"]) {
      const baseUrl = server.baseUrl.replace("127.0.0.1", host);
      const tools = await hostOf(new Client({ baseUrl, token: server.token }), nextOf(journal));
      expect((await tools.call("create_issue", ISSUE)).isError).toBe(host === "localhost");
    }
    expect(created(server.emulator)).toBe(1);
  } finally {
    await server.close();
  }
});
