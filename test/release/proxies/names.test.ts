/** Names of projects behind proxies that pass a path on as it came, and behind those that decode it. */
import { describe, expect, test } from "vitest";
import { ArgumentError, Client, isAutomationError } from "../../../src/client/index.ts";
import { startEmulator } from "../../../src/testing/node.ts";
import { CADDY, HAPROXY, haproxy, NGINX, nginx } from "./configurations.ts";
import { type Configuration, isHere, type ProxyName, ProxyServer } from "./proxy.ts";

const PLAIN = [
  "web",
  "my project",
  "a.b",
  ".hidden",
  "...",
  "a~b",
  "a+b&c=d",
  "ünïcode",
  "日本",
  "a:b@c",
  "a;b",
  "web?x#y",
  "%",
  "a%b",
  "%2e%2e",
  "a%2Fb",
];
const SLASHED = ["team/api", "a/b/c", "a\\b", "ä/ö"];
/** Behind a proxy that decodes them they would address another endpoint. */
const REFUSED = ["", ".", "..", "web/", "/web", "a/../web", "a/./web", "a//b", "../web", "\\web", "a\\..\\web"];

const SET_UPS: readonly {
  readonly name: string;
  readonly proxy: ProxyName;
  readonly configuration: Configuration;
  readonly decodes: boolean;
}[] = [
  { name: "proxy_pass without a path", proxy: "nginx", configuration: NGINX, decodes: false },
  {
    name: "proxy_pass with a path",
    proxy: "nginx",
    configuration: nginx({
      server: ({ service }) => `location /api/ { proxy_pass http://127.0.0.1:${service}/api/; }`,
    }),
    decodes: true,
  },
  {
    name: "rewrite … break",
    proxy: "nginx",
    configuration: nginx({
      server: ({ service }) => `location / { rewrite ^/(.*)$ /$1 break; proxy_pass http://127.0.0.1:${service}; }`,
    }),
    decodes: true,
  },
  { name: "defaults", proxy: "haproxy", configuration: HAPROXY, decodes: false },
  {
    name: "normalize-uri",
    proxy: "haproxy",
    configuration: haproxy(
      "http-request normalize-uri path-merge-slashes\nhttp-request normalize-uri path-strip-dotdot",
    ),
    decodes: false,
  },
  { name: "reverse_proxy", proxy: "caddy", configuration: CADDY, decodes: false },
];

describe.each(SET_UPS.filter(({ proxy }) => isHere(proxy)))(
  "$proxy, $name",
  ({ proxy: program, configuration, decodes }) => {
    test("no issue lies in another project than the one that was named", async () => {
      const names = [...PLAIN, ...SLASHED];
      const service = await startEmulator({
        projects: [...names, "a", "b"].map((name) => ({ name })),
        rateLimit: false,
      });
      await using _ = { [Symbol.asyncDispose]: service.close };
      await using proxy = await ProxyServer.start(program, configuration, service);
      const client = new Client({ baseUrl: proxy.baseUrl, token: service.token });
      const { emulator } = service;
      const create = async (name: string): Promise<unknown> => {
        const before = emulator.requests.length;
        try {
          await client.issues.create(name, { title: name, type: "bug" });
          return "created";
        } catch (error) {
          if (!isAutomationError(error)) throw error;
          return error instanceof ArgumentError ? ["refused", emulator.requests.length - before] : error.message;
        }
      };

      for (const name of REFUSED) expect([name, await create(name)]).toEqual([name, ["refused", 0]]);
      for (const name of PLAIN) expect([name, await create(name)]).toEqual([name, "created"]);
      for (const name of SLASHED) {
        const told = await create(name);
        if (decodes && name.includes("/"))
          expect([name, told]).toEqual([
            name,
            expect.stringContaining("a proxy may have decoded its path: pass the id"),
          ]);
        else expect([name, told]).toEqual([name, "created"]);
      }
      for (const { name } of emulator.projects.list()) {
        const own = emulator.issues.list(name).filter(({ title }) => title !== name);
        expect([name, own]).toEqual([name, []]);
      }
      // The id is safe behind each of them.
      for (const project of emulator.projects.list())
        await client.issues.create(project.id, { title: project.name, type: "bug" });
    });
  },
);
