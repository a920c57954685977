/** Services that cannot be reached, or read: the message names the host, and the code says why. */
import { expect, test } from "vitest";
import { Client, ConnectionError } from "../../../src/client/index.ts";
import { rejection } from "../../support/promises.ts";
import { gzipped, head, send } from "../../support/raw-behaviours.ts";
import { type Behaviour, CLOSED_PORT, rawServer } from "../../support/raw-server.ts";

test.each([
  { what: "a port that nothing listens at", host: `127.0.0.1:${CLOSED_PORT}`, code: /^ECONNREFUSED$/ },
  { what: "a name that does not resolve", host: "no-such-host.invalid", code: /^(?:ENOTFOUND|EAI_AGAIN)$/ },
])("$what", async ({ host, code }) => {
  const client = new Client({ baseUrl: `https://${host}/api/v1`, token: "pat_key_secret", retry: false });
  const error = (await rejection(client.issues.create("web", { title: "One", type: "bug" }))) as ConnectionError; // see below
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ platformCode: expect.stringMatching(code), outcome: "not_sent" });
  expect(error.message).toBe(`issues.create: no connection could be made to ${host} (${error.platformCode})`);
});

test.each<{ what: string; does: Behaviour; says: RegExp; outcome: string }>([
  {
    what: "a port that speaks another protocol",
    does: send("SSH-2.0-OpenSSH_9.6\r\n"),
    says: /does not match the HTTP/,
    outcome: "unknown",
  },
  {
    what: "headers that are too large",
    does: send(head(200, [["X-Long", "x".repeat(65_536)]])),
    says: /\(UND_ERR_HEADERS_OVERFLOW\)/,
    outcome: "unknown",
  },
  {
    what: "a body that cannot be decompressed",
    does: gzipped(() => Buffer.from("no gzip")),
    says: /\(Z_DATA_ERROR\)/,
    outcome: "unknown",
  },
])("$what: there was a response, which could not be read", async ({ does, says, outcome }) => {
  await using server = await rawServer([does]);
  const client = new Client({ baseUrl: server.baseUrl, token: "pat_key_secret", retry: false });
  const error = (await rejection(client.issues.create("web", { title: "One", type: "bug" }))) as ConnectionError; // see below
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error.outcome).toBe(outcome);
  expect(error.message).toContain(`issues.create: the response of 127.0.0.1:${server.port} could not be read: `);
  expect(error.message).toMatch(says);
});
