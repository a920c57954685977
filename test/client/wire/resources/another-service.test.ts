/** A project that one service has listed means nothing at another one, where its id may be another project's. */
import { describe, expect, test } from "vitest";
import { ArgumentError, type Client, type Project } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { good, json } from "../../../support/replies.ts";
import { type SentRequest, scriptedFetch } from "../../../support/scripted-fetch.ts";

const ISSUE = { title: "x", type: "bug" };
const projects = (): Response =>
  json({
    data: [
      { id: "1", name: "web" },
      { id: "2", name: "api" },
    ],
    next_cursor: null,
  });
const answer = (sent: SentRequest): Response | Promise<Response> =>
  new URL(sent.url).pathname.endsWith("/projects") ? projects() : good(sent);

const service = scriptedFetch(answer);
const clientAt = (baseUrl: string): Client => service.client({ baseUrl, token: "pat_key_secret" });
const staging = clientAt("https://staging.example/api/v1");

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Each way to get a list. */
const LISTED: readonly [string, (client: Client) => Promise<readonly Project[]>][] = [
  ["a walk by page", async (client) => (await all(client.projects.list().pages())).flatMap(({ data }) => data)],
  ["one page", async (client) => (await client.projects.list().page()).data],
  ["a derived client", async (client) => await client.withOptions({ timeoutMs: 5_000 }).projects.list().toArray()],
];

describe.each([
  ["another host", "https://production.example/api/v1"],
  ["another base path", "https://staging.example/tenant-b/api/v1"],
])("at %s", (_, baseUrl) => {
  const production = clientAt(baseUrl);

  test.each(LISTED)("a project of %s is refused, and nothing is sent", async (_, list) => {
    const [web] = await list(staging);
    if (web === undefined) throw new Error("there are two");
    const before = service.sent.length;
    const calls = [
      production.issues.create(web, ISSUE),
      production.sessions.list(web).page(),
      production.sessions.list(web).toArray(),
    ];
    for (const call of calls) {
      const error = await rejection(call);
      expect(error).toBeInstanceOf(ArgumentError);
      expect(error).toMatchObject({ outcome: "not_sent" });
      expect((error as Error).message).toContain(
        `project is one of https://staging.example/api/v1, not of ${baseUrl}: pass its name or its id`,
      );
    }
    expect(service.sent).toHaveLength(before);
  });

  test("its name, its id, a plain object and a copy are taken as they are", async () => {
    const [web] = await staging.projects.list().toArray();
    if (web === undefined) throw new Error("there are two");
    for (const project of [web.name, web.id, { id: web.id }, { ...web }, structuredClone(web)]) {
      await production.issues.create(project, ISSUE);
    }
  });
});

test("at its own service it is taken, also by another client and under another spelling of the address", async () => {
  const [web] = await staging.projects.list().toArray();
  if (web === undefined) throw new Error("there are two");
  for (const client of [
    staging,
    staging.withOptions({ retry: false }),
    clientAt("HTTPS://staging.example:443/api/v1/"),
  ]) {
    await client.issues.create(web, ISSUE);
  }
  expect(Object.keys(web)).toEqual(["id", "name"]);
});
