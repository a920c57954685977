/** TLS: a service whose certificate an authority of one's own has signed, and one that asks for a certificate itself. */

import { Agent, fetch as undiciFetch } from "undici";
import { describe, expect, test } from "vitest";
import { Client, type ClientOptions, ConnectionError } from "../../../src/client/index.ts";
import { type ChildOptions, runProgram } from "../../support/child-program.ts";
import { rejection } from "../../support/promises.ts";
import { CA, CA_FILE } from "./certificates.ts";
import { type TlsService, tlsService } from "./tls-service.ts";

const TOKEN = "pat_key_aSecretForTheServiceAlone";

const clientOf = ({ baseUrl }: TlsService, options: ClientOptions = {}): Client =>
  new Client({ baseUrl, token: TOKEN, retry: { minDelayMs: 0 }, ...options });

describe("an authority of one's own", () => {
  test("is trusted by an Agent that knows it", async () => {
    const service = await tlsService();
    const dispatcher = new Agent({ connect: { ca: CA } });
    const client = clientOf(service, { fetch: undiciFetch, fetchOptions: { dispatcher } });
    expect(await client.sessions.get("ses_1")).toMatchObject({ id: "ses_1" });
    await dispatcher.close();
  });

  test("is refused without: the code says why, nothing was sent, nothing is retried", async () => {
    const service = await tlsService();
    const error = await rejection(clientOf(service).issues.create("web", { title: "One", type: "bug" }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ platformCode: "UNABLE_TO_VERIFY_LEAF_SIGNATURE", outcome: "not_sent", attempts: 1 });
    expect(service.received).toEqual([]);
  });

  test("is refused for a host that the certificate does not name", async () => {
    const service = await tlsService();
    const dispatcher = new Agent({ connect: { ca: CA, servername: "other.example.com" } });
    const client = clientOf(service, { fetch: undiciFetch, fetchOptions: { dispatcher } });
    expect(await rejection(client.sessions.get("ses_1"))).toMatchObject({
      platformCode: "ERR_TLS_CERT_ALTNAME_INVALID",
      attempts: 1,
    });
    await dispatcher.close();
  });
});

describe("settings of the process", () => {
  const run = async ({ baseUrl }: TlsService, options: ChildOptions): Promise<unknown> => {
    const { stdout, stderr } = await runProgram(
      `const client = new Client({ baseUrl: ${JSON.stringify(baseUrl)}, token: ${JSON.stringify(TOKEN)}, retry: false });
       console.log(JSON.stringify(await client.sessions.get("ses_1").catch((error) => error)));`,
      options,
    );
    return stdout === "" ? stderr : JSON.parse(stdout);
  };

  test.each<[string, ChildOptions]>([
    ["NODE_EXTRA_CA_CERTS", { environment: { NODE_EXTRA_CA_CERTS: CA_FILE } }],
    // On Linux the system's authorities are in the file that SSL_CERT_FILE names.
    ["--use-system-ca", { flags: ["--use-system-ca"], environment: { SSL_CERT_FILE: CA_FILE } }],
    ["NODE_USE_SYSTEM_CA=1", { environment: { NODE_USE_SYSTEM_CA: "1", SSL_CERT_FILE: CA_FILE } }],
    ["--use-openssl-ca", { flags: ["--use-openssl-ca"], environment: { SSL_CERT_FILE: CA_FILE } }],
  ])("%s trusts it", async (_, options) => {
    expect(await run(await tlsService(), options)).toMatchObject({ id: "ses_1" });
  });
});
