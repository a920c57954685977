/** What the application's own functions throw changes no call, and is one line in the log. */
import { describe, expect, test } from "vitest";
import type { CallOptions, ClientOptions, LogFields } from "../../../../src/client/index.ts";
import { settleDown } from "../../../support/fake-time.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { openWire, TOKEN } from "../../../support/scripted-fetch.ts";

const wire = openWire();

interface Line {
  readonly level: string;
  readonly line: string;
  readonly fields: LogFields;
}

function recorder(): { readonly lines: Line[]; readonly logger: NonNullable<ClientOptions["logger"]> } {
  const lines: Line[] = [];
  const at =
    (level: string) =>
    (line: string, fields: LogFields): void =>
      void lines.push({ level, line, fields });
  return { lines, logger: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") } };
}

const fail = (): never => {
  throw new TypeError(`expected 200 to be 999, Bearer ${TOKEN}`);
};
const FAILING: readonly (readonly [string, () => unknown])[] = [
  ["throws", fail],
  ["rejects", () => Promise.reject(new TypeError("expected 200 to be 999"))],
  ["rejects later", () => new Promise(() => fail())],
  ["throws no error", () => Promise.reject("expected 200 to be 999")],
];

describe.each(FAILING)("a hook that %s", (_, hook) => {
  const places: readonly (readonly [string, ClientOptions, CallOptions])[] = [
    ["onResponse", {}, { onResponse: hook }],
    ["onEvent", { onEvent: hook }, {}],
  ];

  test.each(places)("%s: the call goes on, and the log says it once, with the error", async (name, options, ofCall) => {
    wire.reply(({ path }) => (path.endsWith("gone") ? json({ error: "gone" }, 404) : json({ id: "s", state: "on" })));
    const { lines, logger } = recorder();
    const client = wire.client({ logger, ...options });
    expect(await client.sessions.get("s", ofCall)).toEqual({ id: "s", state: "on" });
    expect(await rejection(client.sessions.get("gone", ofCall))).toMatchObject({ kind: "not_found" });
    await client.sessions.get("s", ofCall);
    await settleDown();
    expect(lines).toEqual([
      {
        level: "warn",
        line: expect.stringMatching(
          RegExp(`^\\[call_\\w+\\] sessions\\.get: ${name} failed: expected 200 to be 999.* \\(told once\\)$`),
        ),
        fields: { callId: expect.stringMatching(/^call_/), operation: "sessions.get", hook: name },
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain("s3cr3tTail");
  });
});

test("a wait tells its own onResponse as any call does", async () => {
  wire.script(json({ id: "s", state: "on" }));
  const { lines, logger } = recorder();
  const done = await wire.client({ logger }).sessions.waitFor("s", { until: () => true, onResponse: fail });
  expect(done).toEqual({ id: "s", state: "on" });
  expect(lines).toMatchObject([{ level: "warn", fields: { operation: "sessions.waitFor", hook: "onResponse" } }]);
});

test("each of both is said once by a client, and again by a client that is derived from it", async () => {
  wire.reply(() => json({ id: "s", state: "on" }));
  const { lines, logger } = recorder();
  const client = wire.client({ logger, onEvent: fail });
  for (const one of [client, client, client.withOptions({ timeoutMs: 5_000 })]) {
    await one.sessions.get("s", { onResponse: fail });
    await one.projects
      .list({}, { onResponse: fail })
      .page()
      .catch(() => undefined);
  }
  await settleDown();
  expect(lines.map(({ fields }) => fields["hook"])).toEqual(["onEvent", "onResponse", "onEvent", "onResponse"]);
});
