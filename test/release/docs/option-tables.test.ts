/** Tables of names and defaults: an option, a default, a fault or a verdict of the code has a row, and each row is one of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { membersOf } from "../../../scripts/generated-pages.ts";
import { DEFAULT_DELAYS } from "../../../src/core/call/decide-retry.ts";
import { DEFAULT_RETRY } from "../../../src/core/call/settings.ts";
import { ENDPOINTS, type Endpoint } from "../../../src/emulator/endpoints.ts";
import { root } from "./snippets.ts";
import { tableOf } from "./tables.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const codesIn = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const plain = (value = ""): string => value.replaceAll(/[`"_,\s]/g, "");

const TABLES = [
  { page: "docs/bulk.md", first: "option", file: "src/bulk/options.ts", name: "BulkOptions" },
  { page: "docs/shared-limits.md", first: "Option", file: "src/redis/options.ts", name: "RedisRateLimiterOptions" },
  { page: "docs/agents.md", first: "option", file: "src/mcp/server.ts", name: "McpServerOptions" },
  {
    page: "docs/tokens.md",
    first: "Option",
    file: "src/core/token/rotating-token-options.ts",
    name: "RotatingTokenOptions",
  },
];
/** What the text of docs/bulk.md explains: the parts of every run, and a function with a chapter of its own. */
const IN_THE_TEXT = ["client", "items", "key", "send", "journal", "resolveUnknown"];

describe.each(TABLES)("$page, the options", ({ page, first, file, name }) => {
  const members = new Map(membersOf(file, name).map((member) => [member.name, member.standard]));
  const told = tableOf(page, first).rows.flatMap(([options, values = ""]) => {
    const defaults = values.split(/,(?!\d)/);
    return codesIn(options).map(
      (option, index, all) => [option, defaults[defaults.length - all.length + index] ?? ""] as const,
    );
  });

  test("are those of the code", () => {
    const named = told.map(([option]) => option);
    const expected =
      page === "docs/bulk.md" ? [...members.keys()].filter((one) => !IN_THE_TEXT.includes(one)) : [...members.keys()];
    expect([...named].sort()).toEqual([...expected].sort());
  });

  test("have the defaults of the code", () => {
    const DAY = "86400000";
    for (const [option, value] of told) {
      const standard = plain(members.get(option)?.split(/\s/)[0]);
      if (standard !== "") expect(plain(value), option).toBe(standard === DAY ? "oneday" : standard);
      else expect(["", "all", "none"], option).toContain(plain(value));
    }
  });
});

test("docs/options.md has the defaults of `retry`", () => {
  const members = membersOf("src/core/call/call-options.ts", "RetryOptions");
  const told = Object.fromEntries(members.map(({ name, standard }) => [name, plain(standard)]));
  const real = Object.entries({ ...DEFAULT_RETRY, ...DEFAULT_DELAYS }).map(([name, value]) => [name, String(value)]);
  expect(told).toEqual(Object.fromEntries(real));
});

test("docs/reference/telemetry.md has each setting", () => {
  const settings = membersOf("src/opentelemetry/index.ts", "TelemetrySettings");
  const told = tableOf("docs/reference/telemetry.md", "setting").rows.map(([name, value]) => [name, plain(value)]);
  // The reason for a default follows a colon.
  expect(told).toEqual(settings.map(({ name, standard }) => [`\`${name}\``, plain(standard.split(":")[0])]));
});

test("README.md, the scopes are those that the service asks for", () => {
  const asked: Readonly<Record<string, Endpoint>> = {
    ...ENDPOINTS,
    "sessions.waitFor": ENDPOINTS["sessions.get"],
    "sessions.watch": ENDPOINTS["sessions.get"],
  };
  const told = tableOf("README.md", "method", "does").rows.flatMap(([methods, , scope]) =>
    codesIn(methods).flatMap((method) => (/^\w+\.\w+/.exec(method) ?? []).map((name) => [name, codesIn(scope)[0]])),
  );
  expect(told.length).toBeGreaterThan(8);
  for (const [name = "", scope] of told) expect(scope, name).toBe(asked[name]?.scope);
});

test("docs/runtimes.md has the versions on which the suite runs, of the runtimes that are installed at one version", () => {
  const { optionalDependencies } = JSON.parse(read("tools/runtimes/package.json")) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const installed = Object.entries(optionalDependencies).map(([name, version]) =>
    name.startsWith("node-") ? version.replace(/^.*@(\d+\.\d+)\.\d+$/, "$1") : version,
  );
  const told = tableOf("docs/runtimes.md", "runtime").rows.flatMap(([runtime = "", , versions = ""]) =>
    /^(?:Node 20|Chromium|Firefox|Safari)/.test(runtime) ? [] : versions.split(", "),
  );
  expect(told.sort()).toEqual(installed.sort());
});
