import { spawnSync } from "node:child_process";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as first from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { openWire } from "../../../support/scripted-fetch.ts";

const wire = openWire("msw");

/** The package loaded once more, as its ESM and its CommonJS copy are in one process. */
async function anotherCopy(): Promise<typeof first> {
  vi.resetModules();
  onTestFinished(() => void vi.resetModules()); // other files of this process load it where nothing is replaced
  return import("../../../../src/client/index.ts");
}

test("errors of one copy of the package are errors of the other", async () => {
  const second = await anotherCopy();
  expect(second.NotFoundError).not.toBe(first.NotFoundError);
  wire.reply(() => json({ error: "no" }, 404));
  const options = { baseUrl: "https://automation.example.com/api/v1", token: "t" };
  const error = await rejection(new second.Client(options).sessions.get("s"));
  expect(Object.getPrototypeOf(error)).toBe(second.NotFoundError.prototype);
  for (const copy of [first, second]) {
    expect(copy.isAutomationError(error)).toBe(true);
    expect(error).toBeInstanceOf(copy.AutomationError);
    expect(error).toBeInstanceOf(copy.ApiError);
    expect(error).toBeInstanceOf(copy.NotFoundError);
    expect(error).not.toBeInstanceOf(copy.ConflictError);
    expect(error).not.toBeInstanceOf(copy.ConfigError);
  }
});

describe("an unhandled rejection", () => {
  const source = new URL("../../../../src/client/index.ts", import.meta.url).href;
  const token = "pat_public_childSecretOfTheToken";
  const plaintext = "pat_new_oneTimeSecretOfTheAnswer";
  const answers = {
    "a refusal that echoes the token": `new Response(JSON.stringify({ error: "${token}", plaintext: "${plaintext}" }), { status: 400 })`,
    "a failure that holds the request": `(() => { throw Object.assign(new TypeError("fetch failed"), { input, init, token: "${token}" }); })()`,
  };

  test.each(Object.entries(answers))("%s prints no secret", (_, answer) => {
    const code = `
      import { Client } from ${JSON.stringify(source)};
      const fetch = async (input, init) => ${answer};
      const client = new Client({ baseUrl: "https://a.example/api/v1", token: "${token}", fetch, retry: false });
      void client.tokens.create({ name: "n", scopes: [] });`;
    const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", code];
    const { stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toContain("tokens.create");
    for (const secret of [token, "childSecretOfTheToken", plaintext]) expect(stderr).not.toContain(secret);
  });
});
