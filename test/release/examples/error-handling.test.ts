import type { AnyAutomationError } from "project-automation";
import { expect, test } from "vitest";
import { run, temporaryFolder } from "./program.ts";

/** The compiler sees to it that none is missing. */
const ADVICE: Readonly<Record<AnyAutomationError["kind"], RegExp>> = {
  config: /names the option/,
  argument: /names the option/,
  bad_request: /title is required/,
  auth: /another token/,
  permission: /scope/,
  not_found: /check the name/,
  conflict: /present state/,
  rate_limit: /come back in 2000 ms/,
  server: /may have been applied/,
  api: /status 418/,
  redirect: /leads to https:\/\/login\.example\.com\//,
  connection: /UND_ERR_SOCKET|ECONNRESET.*may have been applied/,
  timeout: /headers.*can be repeated/,
  abort: /can be repeated/,
  parse: /may have been applied/,
  validation: /was applied, so it must not be repeated/,
  pagination: /repeats a cursor/,
  journal: /nothing is sent without it/,
  bulk: /start the import again: 1 of 1 item is left: 1 refused/,
  send: /follows the write of It breaks/,
  token_provider: /the vault is sealed/,
};

test("error-handling meets every kind of error, once each, with its advice", async () => {
  using folder = temporaryFolder();
  const start = { service: { baseUrl: "", token: "" }, folder: folder.path };
  const { code, output } = await run(["error-handling.ts"], start);
  const sections = [...output.matchAll(/^(\w+): .*\n {4}(.*)$/gm)].map(([, kind = "", advice = ""]) => [kind, advice]);
  expect(code).toBe(0);
  expect(sections.map(([kind]) => kind).sort()).toEqual(Object.keys(ADVICE).sort());
  for (const [kind, advice] of sections)
    expect(advice, kind).toMatch(new Map<unknown, RegExp>(Object.entries(ADVICE)).get(kind) ?? "");
  expect(await run(["error-handling.ts"], start), "started again").toMatchObject({ code: 0 });
});
