/** A service is an origin and a base path; what is there for one is never used for another. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Client, type ClientOptions, ConfigError, rotatingToken } from "../../../../src/client/index.ts";
import { rejection } from "../../../support/promises.ts";
import { json } from "../../../support/replies.ts";
import { BASE, openWire, TOKEN } from "../../../support/scripted-fetch.ts";

const wire = openWire("msw");
const session = (): Response => json({ id: "s", state: "on" });
const OTHER = "https://other.example.com/api/v1";
const OWN = "pat_own_9876543210";
const FROM_ENVIRONMENT = "pat_env_secretOfTheEnvironment";

function environment(baseUrl: string | undefined, token: string | undefined): void {
  vi.stubEnv("PROJECT_AUTOMATION_BASE_URL", baseUrl);
  vi.stubEnv("PROJECT_AUTOMATION_TOKEN", token);
}
beforeEach(() => environment(undefined, undefined));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** The message of the error that `make` throws. */
function refusal(make: () => unknown): string {
  const sent = wire.sent.length;
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ kind: "config", outcome: "not_sent" });
    expect(wire.sent).toHaveLength(sent);
    const { message } = error as ConfigError;
    for (const secret of [FROM_ENVIRONMENT, OWN, TOKEN, "S3CRET"]) expect(message).not.toContain(secret);
    return message;
  }
  return expect.fail("it was expected to throw");
}

const sentTo = async (client: Client): Promise<readonly [url: string, token: string]> => {
  wire.reply(session);
  await client.sessions.get("s");
  const { url, token } = wire.sent.at(-1) ?? expect.fail("nothing was sent");
  return [url.replace("/sessions/s", ""), token];
};

/** Pairs of addresses of one service. */
const ALIKE: readonly (readonly [string, string | URL])[] = [
  [BASE, `${BASE}/`],
  [BASE, `${BASE}///`],
  [BASE, new URL(BASE)],
  [BASE, "HTTPS://AUTOMATION.EXAMPLE.COM:443/api/v1"],
  [BASE, "https://automation.example.com/x/../api/./v1"],
  [BASE, "https://automation.example.com/x/%2e%2E/api/v1"],
  ["http://localhost/api", "http://LOCALHOST:80/api/"],
  ["http://127.0.0.1:3000/api", "http://0x7f.1:3000/api"],
  ["http://[::1]:3000/api", "http://[0:0:0:0:0:0:0:1]:3000/api"],
  ["https://bücher.example.com/ü", "https://xn--bcher-kva.example.com/%C3%BC"],
  ["https://automation.example.com", "https://automation.example.com//"],
];

/** Pairs of addresses of two services. */
const DIFFERENT: readonly (readonly [string, string | URL])[] = [
  [BASE, OTHER],
  [BASE, "https://automation.example.com:8443/api/v1"],
  [BASE, "http://automation.example.com/api/v1"],
  [BASE, "https://automation.example.com./api/v1"],
  [BASE, "https://automation.example.com/api/v2"],
  [BASE, "https://automation.example.com/api"],
  [BASE, "https://automation.example.com"],
  [BASE, `${BASE}/sub`],
  [BASE, "https://automation.example.com/API/v1"],
  [BASE, "https://automation.example.com//api/v1"],
  [BASE, "https://automation.example.com/api%2Fv1"],
  ["https://gw.example.com/a/api/v1", new URL("https://gw.example.com/b/api/v1")],
  ["http://localhost:3000/api", "http://127.0.0.1:3000/api"],
  ["http://localhost:3000/api", "http://[::1]:3000/api"],
];
const INSECURE: ClientOptions = { allowInsecureHttp: true };

describe("the environment", () => {
  test("stands in for keys that are left out", async () => {
    environment(`${BASE}/`, FROM_ENVIRONMENT);
    expect(await sentTo(new Client())).toEqual([BASE, FROM_ENVIRONMENT]);
    expect(await sentTo(new Client(undefined))).toEqual([BASE, FROM_ENVIRONMENT]);
    expect(await sentTo(new Client({ retry: false }))).toEqual([BASE, FROM_ENVIRONMENT]);
    expect(await sentTo(new Client({ token: OWN }))).toEqual([BASE, OWN]);
    expect(await sentTo(new Client({ token: OWN, baseUrl: OTHER }))).toEqual([OTHER, OWN]);
    // Only own properties are options.
    const inherited: ClientOptions = Object.create({ baseUrl: OTHER, token: undefined });
    expect(await sentTo(new Client({ ...inherited }))).toEqual([BASE, FROM_ENVIRONMENT]);
  });

  describe("stands in for no key that is there and undefined", () => {
    const undefinedKeys = (...names: readonly string[]): ClientOptions =>
      Object.fromEntries(names.map((name) => [name, process.env[`STAGING_${name}`]]));

    test.each<[string, ClientOptions, readonly string[]]>([
      ["baseUrl", { ...undefinedKeys("baseUrl"), token: OWN }, ["baseUrl is undefined", "PROJECT_AUTOMATION_BASE_URL"]],
      ["token", { baseUrl: BASE, ...undefinedKeys("token") }, ["token is undefined", "PROJECT_AUTOMATION_TOKEN"]],
      ["token alone", undefinedKeys("token"), ["token is undefined", "PROJECT_AUTOMATION_TOKEN"]],
      [
        "both",
        undefinedKeys("baseUrl", "token"),
        [
          "baseUrl and token are undefined: pass values, or ",
          "leave the keys out to use PROJECT_AUTOMATION_BASE_URL and PROJECT_AUTOMATION_TOKEN",
        ],
      ],
      [
        "a getter",
        {
          get token(): never {
            return undefined as never;
          },
        },
        ["token is undefined"],
      ],
    ])("%s", (_, options, words) => {
      for (const [address, token] of [
        [BASE, FROM_ENVIRONMENT],
        [undefined, FROM_ENVIRONMENT],
        [undefined, undefined],
        ["", ""],
      ] as const) {
        environment(address, token);
        const message = refusal(() => new Client(options));
        for (const word of words) expect(message).toContain(word);
        expect(refusal(() => new Client({ ...options }))).toBe(message);
      }
    });

    test("the message names no variable where there is no process", () => {
      vi.stubGlobal("process", undefined);
      const make = (): unknown => new Client({ baseUrl: BASE, token: undefined as never });
      expect(make).toThrow(/^token is undefined: pass a value$/);
      vi.unstubAllGlobals();
    });
  });

  test.each(ALIKE)("its token goes to its own service: %s, %s", async (named, baseUrl) => {
    environment(named, FROM_ENVIRONMENT);
    expect(new Client({ baseUrl }).baseUrl).toBe(new Client({ baseUrl: named, token: OWN }).baseUrl);
    environment(String(baseUrl), FROM_ENVIRONMENT);
    expect(new Client({ baseUrl: named }).baseUrl).toBe(new Client().baseUrl);
  });

  test.each(DIFFERENT)("its token goes to no other service: %s, %s", (named, baseUrl) => {
    environment(named, FROM_ENVIRONMENT);
    const message = refusal(() => new Client({ baseUrl, ...INSECURE }));
    expect(message).toContain("PROJECT_AUTOMATION_TOKEN is for PROJECT_AUTOMATION_BASE_URL");
    expect(message).toContain(named);
    expect(message).toContain(String(baseUrl).replace(/\/+$/, ""));
    new Client({ baseUrl, token: OWN, ...INSECURE });
    environment(String(baseUrl), FROM_ENVIRONMENT);
    refusal(() => new Client({ baseUrl: named, ...INSECURE }));
  });

  test("its token goes where baseUrl says if it names no address", async () => {
    for (const unset of [undefined, ""]) {
      environment(unset, FROM_ENVIRONMENT);
      expect(await sentTo(new Client({ baseUrl: OTHER }))).toEqual([OTHER, FROM_ENVIRONMENT]);
    }
  });

  test("its address takes any token that is passed", async () => {
    environment(BASE, FROM_ENVIRONMENT);
    expect(await sentTo(new Client({ token: () => OWN }))).toEqual([BASE, OWN]);
  });

  test.each(["automation.example.com/api/v1", " ", `${BASE}\n`, "ftp://automation.example.com", `"${BASE}"`])(
    "an address that cannot be used is named as the variable: %o",
    (address) => {
      environment(address, FROM_ENVIRONMENT);
      for (const options of [{}, { token: OWN }, { baseUrl: BASE }]) {
        expect(refusal(() => new Client(options))).toMatch(/^PROJECT_AUTOMATION_BASE_URL must /);
      }
      new Client({ baseUrl: BASE, token: OWN });
    },
  );

  test("a token that cannot be used is named as the variable, unless one is passed", () => {
    for (const token of [`${FROM_ENVIRONMENT}\n`, " ", `Bearer ${FROM_ENVIRONMENT}`, "té"]) {
      environment(BASE, token);
      expect(refusal(() => new Client())).toMatch(/^PROJECT_AUTOMATION_TOKEN /);
      new Client({ token: OWN });
    }
  });

  test("what is nowhere is named, with its variable", () => {
    expect(refusal(() => new Client())).toContain(
      "baseUrl and token are missing: pass them, or set PROJECT_AUTOMATION_BASE_URL and PROJECT_AUTOMATION_TOKEN",
    );
    expect(refusal(() => new Client({ baseUrl: BASE }))).toContain("set PROJECT_AUTOMATION_TOKEN");
    expect(refusal(() => new Client({ token: OWN }))).toContain("set PROJECT_AUTOMATION_BASE_URL");
    environment("", "");
    expect(refusal(() => new Client({ baseUrl: BASE }))).toContain("set PROJECT_AUTOMATION_TOKEN");
    environment(BASE, undefined);
    expect(refusal(() => new Client({ baseUrl: OTHER }))).toContain("token is missing");
    vi.stubEnv("PROJECT_AUTOMATION_API_KEY", "x");
    expect(refusal(() => new Client())).toContain("(PROJECT_AUTOMATION_API_KEY is not read)");
  });

  test.each([undefined, {}, { env: undefined }, { env: null }])("may be missing: process is %o", (process) => {
    vi.stubGlobal("process", process);
    const make = (): unknown => new Client({ baseUrl: BASE });
    expect(make).toThrow(/token is missing/);
    vi.unstubAllGlobals();
  });

  test("may throw on reading, as Deno's does without permission", () => {
    /** An environment of which some variables may be read. */
    const permitting = (readable: Readonly<Record<string, string>>): unknown => ({
      env: new Proxy(readable, {
        get: (variables, name: string) => {
          if (Object.hasOwn(variables, name)) return variables[name];
          throw new Error("NotCapable");
        },
      }),
    });
    vi.stubGlobal("process", permitting({}));
    const make = (): unknown => new Client({ baseUrl: BASE });
    expect(make).toThrow(/token is missing/);
    vi.stubGlobal("process", permitting({ PROJECT_AUTOMATION_TOKEN: FROM_ENVIRONMENT }));
    expect(make()).toBeInstanceOf(Client);
    vi.unstubAllGlobals();
  });
});

describe("withOptions", () => {
  test.each(["token", "baseUrl"] as const)("%s: undefined is never that of the first client", (name) => {
    environment(BASE, FROM_ENVIRONMENT);
    const visitor: { readonly token?: string; readonly baseUrl?: string } = {};
    const first = wire.client();
    const options = { token: OWN, baseUrl: BASE, [name]: visitor[name] } as ClientOptions;
    const { withOptions } = first.withOptions({ timeoutMs: 5_000 });
    for (const make of [
      () => first.withOptions(options),
      () => withOptions({ ...options }),
      () => first.withOptions({ [name]: undefined }),
      () => first.withOptions({ token: OWN }).withOptions({ [name]: undefined }),
      () => wire.client({ token: () => TOKEN }).withOptions({ [name]: undefined }),
    ]) {
      expect(refusal(make)).toBe(
        `withOptions: ${name} is undefined: pass a value, or leave the key out to keep this client's own`,
      );
    }
    expect(refusal(() => first.withOptions({ token: undefined as never, baseUrl: undefined as never }))).toBe(
      "withOptions: baseUrl and token are undefined: pass values, or leave the keys out to keep this client's own",
    );
  });

  test.each(ALIKE)("the same service keeps everything: %s, %s", async (baseUrl, again) => {
    const first = new Client({
      baseUrl,
      token: OWN,
      headers: { "x-a": "1" },
      fetchOptions: { keepalive: true },
      fetch: async (_, init) => {
        seen.push(init);
        return session();
      },
    });
    const seen: unknown[] = [];
    await first.withOptions({ baseUrl: again }).sessions.get("s");
    expect(seen).toMatchObject([{ headers: { "x-a": "1", authorization: `Bearer ${OWN}` }, keepalive: true }]);
  });

  test.each(DIFFERENT)("another service needs a token of its own: %s, %s", (baseUrl, another) => {
    const first = new Client({ baseUrl, token: TOKEN, ...INSECURE }).withOptions(INSECURE);
    for (const client of [first, first.withOptions({ token: () => OWN }), first.withOptions({ baseUrl })]) {
      const message = refusal(() => client.withOptions({ baseUrl: another, ...INSECURE }));
      expect(message).toContain(`is another service than that of this client (${client.baseUrl}), and needs token`);
    }
    const derived = first.withOptions({ baseUrl: another, token: OWN, ...INSECURE });
    // Back again is another service, too.
    refusal(() => derived.withOptions({ baseUrl, ...INSECURE }));
  });

  describe("another service needs its own of each that the first client has", () => {
    const NONE: ClientOptions = { headers: {}, fetchOptions: {}, allowInsecureHttp: false };
    const FULL: ClientOptions = {
      headers: { "cf-access-client-secret": "S3CRET" },
      fetchOptions: { dispatcher: { certificate: "S3CRET" } },
      allowInsecureHttp: true,
    };
    const names = Object.keys(FULL) as (keyof typeof NONE)[];
    const subsets = Array.from({ length: 8 }, (_, bits) => names.filter((_name, at) => (bits >> at) % 2 === 1));
    const pick = (options: ClientOptions, keys: readonly (keyof ClientOptions)[]): ClientOptions =>
      Object.fromEntries(keys.map((key) => [key, options[key]]));

    test.each(subsets.map((had) => [had.join() || "none", had] as const))("%s", async (_, had) => {
      const fetched: [string, { readonly headers: object }][] = [];
      const first = wire.client({
        ...pick(FULL, had),
        fetch: async (url, init) => {
          fetched.push([url, init]);
          return session();
        },
      });
      const made: Client[] = [];
      for (const given of subsets) {
        for (const client of [first, first.withOptions({ timeoutMs: 5_000 })]) {
          const lacking = had.filter((name) => !given.includes(name));
          const make = (): Client => client.withOptions({ baseUrl: OTHER, token: OWN, ...pick(NONE, given) });
          if (lacking.length === 0) {
            made.push(make());
          } else {
            const message = refusal(make);
            for (const name of names) expect(message.includes(name)).toBe(lacking.includes(name));
          }
        }
      }
      for (const client of made) await client.sessions.get("s");
      expect(fetched.length).toBe(2 * 2 ** (names.length - had.length));
      for (const [url, init] of fetched) {
        expect(url).toBe(`${OTHER}/sessions/s`);
        expect(JSON.stringify(init)).not.toContain("S3CRET");
        expect(init.headers).toMatchObject({ accept: "application/json", authorization: `Bearer ${OWN}` });
      }
    });

    test("undefined and what holds nothing bring nothing", () => {
      const first = wire.client({ ...FULL, ...INSECURE });
      const all = { baseUrl: OTHER, token: OWN, ...NONE };
      for (const name of names) {
        expect(refusal(() => first.withOptions({ ...all, [name]: undefined }))).toContain(`needs ${name} of its own`);
      }
      // One that was derived with none has none.
      const bare = first.withOptions(all);
      bare.withOptions({ baseUrl: BASE, token: TOKEN });
      // The header that every client has belongs to nobody.
      wire
        .client({ headers: { accept: "application/json" }, fetchOptions: {} })
        .withOptions({ baseUrl: OTHER, token: OWN });
      refusal(() => wire.client({ headers: { accept: "text/json" } }).withOptions({ baseUrl: OTHER, token: OWN }));
    });

    test("its own are those that it uses", async () => {
      const { withOptions } = wire.client({ ...FULL, fetchOptions: undefined, headers: { "x-a": "S3CRET" } });
      const headers = { "x-b": "2" };
      const http = "http://dev.example.com/api/v1";
      const insecure = new Client({ baseUrl: http, token: TOKEN, ...INSECURE });
      refusal(() => insecure.withOptions({ baseUrl: "http://other.example.com", token: OWN }));
      expect(
        refusal(() =>
          insecure.withOptions({ baseUrl: "http://other.example.com", token: OWN, allowInsecureHttp: false }),
        ),
      ).toContain("plain http:");
      wire.reply(session);
      await withOptions({ baseUrl: OTHER, token: OWN, headers, allowInsecureHttp: false }).sessions.get("s");
      expect(wire.sent[0]?.url).toBe(`${OTHER}/sessions/s`);
      expect(wire.sent[0]?.headers.get("x-a")).toBeNull();
      expect(wire.sent[0]?.headers.get("x-b")).toBe("2");
    });
  });
});

test.each(DIFFERENT)("a rotating token belongs to the service of its first call: %s, %s", async (baseUrl, another) => {
  const token = rotatingToken({
    token: { id: "tok_1", plaintext: OWN, expires_at: "2099-01-01T00:00:00Z" },
    onRotated: () => {},
  });
  // An address that nothing was asked for is none.
  new Client({ baseUrl: "https://typo.example.com/api/v1", token });
  const fetch = vi.fn(async () => session());
  const first = new Client({ baseUrl, token, fetch, ...INSECURE });
  const early = new Client({ baseUrl: another, token, ...INSECURE });
  await first.sessions.get("s");
  const message = refusal(() => new Client({ baseUrl: another, token, ...INSECURE }));
  expect(message).toMatch(/belongs to .* would travel to .*: create one for each/);
  expect(message).toContain(first.baseUrl);
  refusal(() => first.withOptions({ baseUrl: another, token, ...INSECURE }));
  new Client({ baseUrl, token, ...INSECURE });
  const late = await rejection(early.sessions.get("s"));
  expect(late).toMatchObject({
    kind: "token_provider",
    outcome: "not_sent",
    message: expect.stringMatching(/belongs to/),
  });
  expect([fetch.mock.calls.length, wire.sent.length]).toEqual([1, 0]);
});
