/** Proxies: the client speaks to the service through a CONNECT proxy that the test runs. */

import { Dispatcher1Wrapper, ProxyAgent, fetch as undiciFetch } from "undici";
import { describe, expect, test } from "vitest";
import { Client } from "../../../src/client/index.ts";
import { type ChildOptions, runProgram } from "../../support/child-program.ts";
import { rejection } from "../../support/promises.ts";
import { CLOSED_PORT } from "../../support/raw-server.ts";
import { CA, CA_FILE } from "./certificates.ts";
import { connectProxy } from "./connect-proxy.ts";
import { tlsService } from "./tls-service.ts";

const TOKEN = "pat_key_aSecretForTheServiceAlone";
const ISSUE = { title: "One", type: "bug" };

describe("undici's dispatchers as fetchOptions.dispatcher", () => {
  test("a ProxyAgent with undici's fetch sends through the tunnel, and the proxy sees no token", async () => {
    const [service, proxy] = await Promise.all([tlsService(), connectProxy({ credentials: "user:password" })]);
    const dispatcher = new ProxyAgent({ uri: proxy.url, requestTls: { ca: CA } });
    const fetchOptions = { dispatcher };
    const client = new Client({ baseUrl: service.baseUrl, token: TOKEN, fetch: undiciFetch, fetchOptions });
    expect(await client.sessions.get("ses_1")).toMatchObject({ id: "ses_1" });
    expect(proxy.asked).toEqual([`CONNECT localhost:${service.port}`]);
    expect(service.received).toMatchObject([{ target: "/api/v1/sessions/ses_1", authorization: `Bearer ${TOKEN}` }]);
    expect(proxy.passed()).not.toContain(TOKEN);
    await dispatcher.close();
  });

  test("a dispatcher of undici 8 serves the platform's fetch in a Dispatcher1Wrapper", async () => {
    const [service, proxy] = await Promise.all([tlsService(), connectProxy()]);
    const agent = new ProxyAgent({ uri: proxy.url, requestTls: { ca: CA } });
    const fetchOptions = { dispatcher: new Dispatcher1Wrapper(agent) };
    const client = new Client({ baseUrl: service.baseUrl, token: TOKEN, fetchOptions });
    expect(await client.sessions.get("ses_1")).toMatchObject({ id: "ses_1" });
    expect(proxy.asked).toHaveLength(1);
    await agent.close();
  });

  test.each([
    { status: 407, attempts: 1 },
    { status: 502, attempts: 3 },
  ])("a proxy that refuses the tunnel with $status: nothing was sent, $attempts attempts", async (row) => {
    const [service, proxy] = await Promise.all([tlsService(), connectProxy({ refuseWith: row.status })]);
    const agent = new ProxyAgent({ uri: proxy.url, requestTls: { ca: CA } });
    const fetchOptions = { dispatcher: new Dispatcher1Wrapper(agent) };
    const { baseUrl } = service;
    const client = new Client({ baseUrl, token: TOKEN, fetchOptions, retry: { minDelayMs: 0 } });
    const error = await rejection(client.issues.create("web", ISSUE));
    expect(error).toMatchObject({ kind: "connection", outcome: "not_sent", attempts: row.attempts });
    expect((error as Error).message).toContain(`Proxy response (${row.status})`);
    expect(proxy.asked).toHaveLength(row.attempts);
    expect(service.received).toEqual([]);
    await agent.destroy();
  });

  test("a proxy that is down: the message has its address, and nothing was sent", async () => {
    const agent = new ProxyAgent({ uri: `http://127.0.0.1:${CLOSED_PORT}` });
    const fetchOptions = { dispatcher: new Dispatcher1Wrapper(agent) };
    const client = new Client({ baseUrl: "https://localhost:4072/api/v1", token: TOKEN, fetchOptions, retry: false });
    expect(await rejection(client.issues.create("web", ISSUE))).toMatchObject({
      outcome: "not_sent",
      message: `issues.create: the request to localhost:4072 failed: connect ECONNREFUSED 127.0.0.1:${CLOSED_PORT}`,
    });
    await agent.destroy();
  });
});

describe("Node's environment proxies", () => {
  const run = async (baseUrl: string, options: ChildOptions): Promise<unknown> => {
    const environment = { NODE_EXTRA_CA_CERTS: CA_FILE, ...options.environment };
    const { stdout, stderr } = await runProgram(
      `const client = new Client({ baseUrl: ${JSON.stringify(baseUrl)}, token: ${JSON.stringify(TOKEN)}, retry: false });
       console.log(JSON.stringify(await client.sessions.get("ses_1").catch((error) => error)));`,
      { ...options, environment },
    );
    return stdout === "" ? stderr : JSON.parse(stdout);
  };

  test.each<[string, ChildOptions]>([
    ["NODE_USE_ENV_PROXY=1", { environment: { NODE_USE_ENV_PROXY: "1" } }],
    ["--use-env-proxy", { flags: ["--use-env-proxy"] }],
  ])("%s: HTTPS_PROXY is used, and the proxy sees no token", async (_, options) => {
    const [service, proxy] = await Promise.all([tlsService(), connectProxy()]);
    const environment = { HTTPS_PROXY: proxy.url, ...options.environment };
    expect(await run(service.baseUrl, { ...options, environment })).toMatchObject({ id: "ses_1" });
    expect(proxy.asked).toEqual([`CONNECT localhost:${service.port}`]);
    expect(proxy.passed()).not.toContain(TOKEN);
  });

  test("NO_PROXY goes past the proxy", async () => {
    const [service, proxy] = await Promise.all([tlsService(), connectProxy()]);
    const environment = { NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: proxy.url, NO_PROXY: "localhost" };
    expect(await run(service.baseUrl, { environment })).toMatchObject({ id: "ses_1" });
    expect(proxy.asked).toEqual([]);
  });
});
