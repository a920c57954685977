/** Proxies: the client speaks to the service through a CONNECT proxy that the test runs. */

import { Agent, ProxyAgent, fetch as undiciFetch } from "undici";
import { describe, expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { rejection } from "../support/wire.ts";
import { CA, CA_FILE } from "./certificates.ts";
import { runProgram } from "./child.ts";
import { connectProxy } from "./connect-proxy.ts";
import { tlsService } from "./tls-service.ts";

const TOKEN = "pat_key_aSecretForTheServiceAlone";

const call = (baseUrl: string): string => `
  const client = new Client({ baseUrl: ${JSON.stringify(baseUrl)}, token: ${JSON.stringify(TOKEN)}, retry: false });
  console.log(JSON.stringify(await client.sessions.get("ses_1").catch((error) => error)));`;

describe("undici's ProxyAgent as fetchOptions.dispatcher", () => {
  test.each([
    ["the platform's fetch", undefined],
    ["undici's own fetch", undiciFetch as unknown as typeof globalThis.fetch],
  ])("%s sends through the tunnel, and the proxy sees no token", async (_, fetch) => {
    const [service, proxy] = await Promise.all([tlsService(), connectProxy({ credentials: "user:password" })]);
    const dispatcher = new ProxyAgent({ uri: proxy.url, requestTls: { ca: CA } });
    const client = new Client({ baseUrl: service.baseUrl, token: TOKEN, fetch, fetchOptions: { dispatcher } });
    expect(await client.sessions.get("ses_1")).toMatchObject({ id: "ses_1" });
    expect(proxy.asked).toEqual([`CONNECT localhost:${service.port}`]);
    expect(service.received).toMatchObject([{ target: "/api/v1/sessions/ses_1", authorization: `Bearer ${TOKEN}` }]);
    expect(proxy.passed()).not.toContain(TOKEN);
    await dispatcher.close();
  });

  test("a proxy that refuses is a ConnectionError, and nothing reached the service", async () => {
    const [service, proxy] = await Promise.all([tlsService(), connectProxy({ credentials: "user:password" })]);
    const dispatcher = new ProxyAgent({ uri: proxy.url.replace("user:password@", ""), requestTls: { ca: CA } });
    const client = new Client({ baseUrl: service.baseUrl, token: TOKEN, fetchOptions: { dispatcher }, retry: false });
    const error = await rejection(client.issues.create("web", { title: "One", type: "bug" }));
    expect(error).toMatchObject({ kind: "connection" });
    expect(service.received).toEqual([]);
    await dispatcher.destroy();
  });

  test("an Agent limits the connections of a client", async () => {
    const service = await tlsService();
    const dispatcher = new Agent({ connections: 2, connect: { ca: CA } });
    const client = new Client({ baseUrl: service.baseUrl, token: TOKEN, fetchOptions: { dispatcher } });
    await Promise.all(Array.from({ length: 10 }, () => client.sessions.get("ses_1")));
    expect(service.received).toHaveLength(10);
    expect(service.connections).toBeLessThanOrEqual(2);
    await dispatcher.close();
  });
});

describe("Node's environment proxies", () => {
  test.each([
    ["NODE_USE_ENV_PROXY=1", { environment: { NODE_USE_ENV_PROXY: "1" } }],
    ["--use-env-proxy", { flags: ["--use-env-proxy"] }],
  ])("%s: HTTPS_PROXY is used, and the proxy sees no token", async (_, options) => {
    const [service, proxy] = await Promise.all([tlsService(), connectProxy()]);
    const environment = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: CA_FILE, ...options.environment };
    const { stdout } = await runProgram(call(service.baseUrl), { ...options, environment });
    expect(JSON.parse(stdout)).toMatchObject({ id: "ses_1" });
    expect(proxy.asked).toEqual([`CONNECT localhost:${service.port}`]);
    expect(proxy.passed()).not.toContain(TOKEN);
  });

  test("NO_PROXY goes past the proxy", async () => {
    const [service, proxy] = await Promise.all([tlsService(), connectProxy()]);
    const environment = {
      NODE_USE_ENV_PROXY: "1",
      HTTPS_PROXY: proxy.url,
      NO_PROXY: "localhost",
      NODE_EXTRA_CA_CERTS: CA_FILE,
    };
    const { stdout } = await runProgram(call(service.baseUrl), { environment });
    expect(JSON.parse(stdout)).toMatchObject({ id: "ses_1" });
    expect(proxy.asked).toEqual([]);
  });

  test("without the switch HTTPS_PROXY has no effect", async () => {
    const [service, proxy] = await Promise.all([tlsService(), connectProxy()]);
    const environment = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: CA_FILE };
    const { stdout } = await runProgram(call(service.baseUrl), { environment });
    expect(JSON.parse(stdout)).toMatchObject({ id: "ses_1" });
    expect(proxy.asked).toEqual([]);
  });
});
