import { afterEach, expect, test, vi } from "vitest";
import { proxyHint } from "../../../../src/core/errors/connection-fault.ts";
import { parseService } from "../../../../src/core/wire/service.ts";

afterEach(() => vi.unstubAllEnvs());

const PROXY = "http://proxy.invalid:3128";
const NONE = {
  HTTP_PROXY: "",
  http_proxy: "",
  HTTPS_PROXY: "",
  ALL_PROXY: "",
  all_proxy: "",
  NO_PROXY: "",
  no_proxy: "",
};
const told = (name: string, host: string): string => `; ${name} sends it to a proxy: name ${host} in NO_PROXY`;

test.each<[string, readonly [service: string, environment: Readonly<Record<string, string>>], string]>([
  ["a proxy of the environment", ["http://127.0.0.1:4010", { HTTP_PROXY: PROXY }], told("HTTP_PROXY", "127.0.0.1")],
  ["one in small letters", ["http://[::1]:4010", { http_proxy: PROXY }], told("http_proxy", "[::1]")],
  ["one for every protocol, which Node does not use", ["http://localhost:4010", { ALL_PROXY: PROXY }], ""],
  ["one of another protocol", ["http://127.0.0.1:4010", { HTTPS_PROXY: PROXY }], ""],
  ["no proxy", ["http://127.0.0.1:4010", {}], ""],
  ["one that Node ignores", ["http://127.0.0.1:4010", { HTTP_PROXY: PROXY, NODE_USE_ENV_PROXY: "" }], ""],
  ["an exception for this host", ["http://127.0.0.1:4010", { HTTP_PROXY: PROXY, NO_PROXY: "a,127.0.0.1" }], ""],
  ["one with a port", ["http://127.0.0.1:4010", { HTTP_PROXY: PROXY, NO_PROXY: "a, 127.0.0.1:4010" }], ""],
  ["an exception for all", ["http://127.0.0.1:4010", { HTTP_PROXY: PROXY, no_proxy: "*" }], ""],
  ["another machine", ["https://automation.example.com", { HTTPS_PROXY: PROXY }], ""],
])("%s", (_, [service, environment], hint) => {
  for (const [name, value] of Object.entries({ ...NONE, NODE_USE_ENV_PROXY: "1", ...environment }))
    vi.stubEnv(name, value);
  expect(proxyHint(parseService(service))).toBe(hint);
});
