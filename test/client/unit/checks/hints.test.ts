import fc from "fast-check";
import { expect, test } from "vitest";
import "../../../../src/client/index.ts"; // its schemas give the names that hints know
import { closestName, hintsFor } from "../../../../src/core/checks/hints.ts";

const FIELDS = ["name", "scopes", "expires_in_days"];

test.each([
  ["expiresInDays", "expires_in_days"],
  ["expires_in_day", "expires_in_days"],
  ["expire_days", "expires_in_days"],
  ["EXPIRES-IN-DAYS", "expires_in_days"],
  ["scope", "scopes"],
  ["Scopes", "scopes"],
  ["nmae", "name"],
  ["names", "name"],
])("%s is close to %s", (unknown, meant) => {
  expect(closestName(unknown, FIELDS)).toBe(meant);
});

test.each(["", "x", "title", "signal", "admin", "id", "_", "expiry", "n".repeat(10_000)])(
  "nothing is close to %j",
  (unknown) => {
    expect(closestName(unknown, FIELDS)).toBeUndefined();
  },
);

test("a short word may stand elsewhere in a long name", () => {
  expect(closestName("concurrencyMax", ["maxConcurrency", "maxResponseBytes"])).toBe("maxConcurrency");
});

test.each([
  [2, "write retry: { attempts: 3 }, which counts the first"],
  ["2", "write retry: { attempts: n + 1 }, which counts the first"],
  [1.5, "write retry: { attempts: n + 1 }, which counts the first"],
])("a number of retries is counted as attempts: %j", (retries, hint) => {
  expect(hintsFor({ maxRetries: retries }, "options", ["retry", "timeoutMs"])).toEqual([hint]);
});

test("what was meant by several names is asked at once, each of them once", () => {
  expect(hintsFor({ titel: "", tpye: "", tytle: "", signal: "" }, "input", ["title", "type"])).toEqual([
    '"signal" belongs in the last argument, options',
    'did you mean "title", "type"?',
  ]);
});

test("of several close names it is the closest", () => {
  expect(closestName("timeoutMS", ["totalTimeoutMs", "timeoutMs"])).toBe("timeoutMs");
  expect(closestName("minDelay", ["maxDelayMs", "minDelayMs"])).toBe("minDelayMs");
  expect(closestName("maxInterval", ["intervalMs", "maxIntervalMs"])).toBe("maxIntervalMs");
});

test("a name of three characters or more with one wrong is close to itself, in any case and style", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{3,20}$/), fc.nat(), (name, seed) => {
      const at = seed % name.length;
      const wrong = `${name.slice(0, at)}?${name.slice(at + 1)}`;
      expect(closestName(wrong, [name])).toBe(name);
      expect(closestName(`_${name.toUpperCase()}-`, [name])).toBe(name);
    }),
  );
});

test.each<[string, readonly string[], Readonly<Record<string, string>>, string]>([
  [
    "a client",
    [
      "baseUrl",
      "token",
      "timeoutMs",
      "totalTimeoutMs",
      "retry",
      "maxConcurrency",
      "rateLimiter",
      "headers",
      "fetch",
      "onEvent",
    ],
    {
      ...{
        apiKey: "token",
        api_key: "token",
        tokens: "token",
        base_url: "baseUrl",
        baseURL: "baseUrl",
        url: "baseUrl",
      },
      ...{ timeout: "timeoutMs", timeout_ms: "timeoutMs", timeoutMS: "timeoutMs", totalTimeout: "totalTimeoutMs" },
      ...{ auth: "token", authorization: "token", hooks: "onEvent", header: "headers", fetcher: "fetch" },
      ...{ concurrency: "maxConcurrency", max_concurrency: "maxConcurrency", concurrencyMax: "maxConcurrency" },
      ...{ rateLimit: "rateLimiter", rate_limiter: "rateLimiter" },
    },
    "bearer secret credentials host hostname endpoint strict cache delay",
  ],
  [
    "a request",
    ["method", "path", "query", "json", "schema"],
    { url: "path", paths: "path", methods: "method", body: "json", data: "json", params: "query", schemas: "schema" },
    "auth verb payload search parse retry host",
  ],
])(
  "of the names that other programs have, %s has hints for those that are near alone",
  (...[, accepted, near, far]) => {
    const hints = (key: string): string[] => hintsFor({ [key]: "" }, "options", accepted);
    for (const [key, name] of Object.entries(near))
      expect([key, ...hints(key)]).toEqual([key, `did you mean "${name}"?`]);
    for (const key of far.split(" ").filter((name) => !accepted.includes(name)))
      expect([key, ...hints(key)]).toEqual([key]);
  },
);

test.each<[string, readonly string[], string | undefined]>([
  ["apiKey in options", ["baseUrl", "token"], 'did you mean "token"?'],
  ["maxRetries in options", ["retry", "timeoutMs"], "write retry: { attempts: n + 1 }, which counts the first"],
  ["retries in retry", ["attempts", "minDelayMs"], "write attempts: n + 1, which counts the first"],
  ["page in params", ["limit", "cursor"], "write cursor: the next_cursor of the page before"],
  ["per_page in params", ["limit", "cursor"], 'did you mean "limit"?'],
  ["prefetch in options", ["baseUrl"], '"prefetch" belongs in the last argument of a call; onEvent sees every call'],
  ["baseUrl in options", ["signal"], '"baseUrl" belongs in the options of the client'],
  ["url in request", ["method", "path"], 'did you mean "path"?'],
  ["body in request", ["method", "json"], 'did you mean "json"?'],
  ["expires_in in input", ["name", "scopes", "expires_in_days"], 'did you mean "expires_in_days"?'],
  ["permissions in input", ["name", "scopes", "expires_in_days"], 'did you mean "scopes"?'],
  ["body in input", ["title", "type"], "if your service takes others, pass them in options.extra.json"],
  ["status in params", ["limit", "cursor"], "if your service takes others, pass them in options.extra.query"],
  ["json in options", ["signal", "extra"], "write extra: { json }"],
  ["query in options", ["signal", "extra"], "write extra: { query }"],
  ["page_size in params", ["limit", "cursor"], 'did you mean "limit"?'],
  ["limit in options", ["signal", "prefetch"], '"limit" belongs in the argument before, params'],
  ["limit in options", ["signal"], undefined],
])("%s, where %j are accepted", (wrong, accepted, hint) => {
  const [key = "", what = ""] = wrong.split(" in ");
  expect(hintsFor({ [key]: "" }, what, accepted)).toEqual(hint === undefined ? [] : [hint]);
});
