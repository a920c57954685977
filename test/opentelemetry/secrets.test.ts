import { expect, test } from "vitest";
import { z } from "zod/mini";
import { Client, path, rotatingToken } from "../../src/client/index.ts";
import { instrument } from "../../src/opentelemetry/index.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { drain, rejection } from "../support/promises.ts";
import { registeredTelemetry } from "../support/telemetry.ts";

const recorded = registeredTelemetry();

test("no secret is in the exported telemetry of any operation", async () => {
  const emulator = createEmulator({
    baseUrl: "https://emulator.invalid/tenant-of-acme/v1",
    projects: Array.from({ length: 3 }, (_, index) => ({
      id: `prj_secretproject${index}`,
      name: `acme-rocket-${index}`,
    })),
  });
  const secrets = new Set(["tenant-of-acme", "secretproject", "acme-rocket", emulator.token]);
  const { baseUrl, token, fetch } = emulator;
  const client = new Client(instrument({ baseUrl, token, fetch, retry: { minDelayMs: 0 }, validation: "lenient" }));
  const keep = (...more: readonly string[]): void => {
    for (const one of more) secrets.add(one);
  };

  await drain(client.projects.list({ limit: 1 }, { prefetch: true }));
  await drain(client.sessions.list("acme-rocket-1", { limit: 2 }));
  const { id } = await client.tokens.create({ name: "name of a token", scopes: ["projects:read"], expires_in_days: 7 });
  keep("name of a token", id);
  const own = await client.tokens.create({ name: "own", scopes: ["projects:admin", "issues:write"] });
  const replaced = await client.withOptions({ token: own.plaintext }).tokens.rotate(own.id, { adopt: true });
  keep(own.id, own.plaintext, replaced.id, replaced.plaintext, own.key_id, replaced.key_id);
  await client.tokens.revoke(id);
  await client.issues.create("acme-rocket-0", { title: "A leak in the tank", type: "bug" });
  keep("A leak in the tank");
  const [session] = emulator.sessions.list("acme-rocket-0");
  if (session === undefined) throw new Error("no session");
  keep(session.id);
  await client.sessions.get(session.id);

  const first = await client.tokens.create({ name: "self", scopes: ["projects:read"], expires_in_days: 1 });
  const rotating = rotatingToken({
    token: first,
    renewBeforeMs: 7 * 86_400_000,
    onRotated: (next) => keep(next.id, next.plaintext),
  });
  keep(first.id, first.plaintext);
  await drain(client.withOptions({ token: rotating }).projects.list());

  await rejection(client.sessions.get("secretproject-that-is-not-there"));
  // A service that echoes the request in every place that it can.
  const echo = `echoed ${emulator.token}`;
  keep(echo);
  const headers = { "x-request-id": echo, "ratelimit-remaining": echo };
  for (const status of [400, 401, 403, 404, 409, 422, 500, 503]) {
    const body = { error: emulator.token, message: echo };
    const fault = emulator.fault({ status, body, headers, times: Infinity });
    await rejection(client.issues.create("acme-rocket-0", { title: "A leak in the tank", type: "bug" }));
    fault.remove();
  }
  emulator.fault({ operation: "sessions.get", status: 200, times: Infinity, body: { [echo]: echo }, headers });
  await client.sessions.get("secretproject-of-a-query");
  const schema = z.record(z.string(), z.number());
  const query = { search: "words of a query" };
  keep("words of a query");
  await client.request({ method: "GET", path: path`/sessions/${"secretproject"}`, query, schema });
  const throwing = new Client(
    instrument({ baseUrl, token, retry: false, fetch: () => Promise.reject(new Error(echo)) }),
  );
  await rejection(throwing.sessions.get("secretproject"));
  const provider = (): never => expect.fail(echo);
  await rejection(client.withOptions({ token: provider }).sessions.get("secretproject"));
  await rejection(client.sessions.get("secretproject", { signal: AbortSignal.abort(echo) }));

  for (const { requestId, query: asked } of emulator.requests)
    keep(requestId, ...(asked["cursor"] ? [asked["cursor"]] : []));
  const cursors = emulator.requests.filter(({ query: asked }) => asked["cursor"] !== undefined);
  expect(cursors.length).toBeGreaterThanOrEqual(3);

  const exported = await recorded().everything();
  expect(recorded().spans().length).toBeGreaterThan(40);
  for (const name of ["tokens.create", "tokens.rotate", "tokens.revoke", "drift", "token_provider"]) {
    expect(exported).toContain(name);
  }
  for (const secret of secrets) expect(exported).not.toContain(secret);
});
