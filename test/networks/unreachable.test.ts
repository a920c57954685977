/** Services that cannot be reached: the message names the host, and the code says why. */
import { expect, test } from "vitest";
import { Client, ConnectionError } from "../../src/index.ts";
import { rejection } from "../support/promises.ts";
import { CLOSED_PORT } from "../support/raw-server.ts";

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
