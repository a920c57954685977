import { describe, expect, test } from "vitest";
import { ignoredProxy } from "../../src/doctor/node/ignored-proxy.ts";
import { sendByNode } from "../../src/doctor/node/send.ts";
import type { Verdict } from "../../src/doctor/question.ts";
import type { Send, WireRequest, WireResponse } from "../../src/doctor/wire.ts";
import { type StartOptions, startEmulator } from "../../src/testing/node.ts";
import { examine } from "./examine.ts";

const EMPTY: WireResponse = { kind: "response", status: 200, headers: new Headers(), text: "" };
const NOT_FOUND: WireResponse = {
  kind: "response",
  status: 404,
  headers: new Headers({ "content-type": "text/html" }),
  text: "<h1>Not Found</h1>",
};

/** A proxy that answers the requests that match, and passes the others on. */
function answering(matches: (request: WireRequest) => boolean, answer: WireResponse): Send {
  return async (request) => (matches(request) ? answer : sendByNode(request));
}

/** A proxy that decodes slashes in the path. */
const decoding: Send = (request) => sendByNode({ ...request, url: request.url.replaceAll(/%2F/gi, "/") });
const isUnknownPath = ({ url }: WireRequest): boolean => /v1\/project-automation-doctor[^/]*$/.test(url);
const hasEncodedSlash = ({ url }: WireRequest): boolean => url.includes("%2F");

interface Case {
  readonly options?: StartOptions;
  readonly send?: Send;
  readonly write?: boolean;
}

async function ask(id: string, { options = {}, write = false, ...rest }: Case): Promise<readonly [Verdict, string]> {
  await using service = await startEmulator(options);
  const { question, report } = await examine(service, { write, ...rest });
  const { verdict, seen } = question(id);
  expect(report.result).toBe(
    Object.values(report.questions).some((one) => one.verdict === "contradicts") ? "contradicts" : "agrees",
  );
  if (!write) expect(service.emulator.requests.every(({ method }) => method === "GET")).toBe(true);
  return [verdict, seen];
}

describe("a page in place of the service", () => {
  test.each<[string, Case, readonly [Verdict, string]]>([
    ["there is none", {}, ["agrees", "no: each of"]],
    [
      "the limit has headers of another name",
      { options: { conventions: { rateLimitHeaders: { limit: "X-Quota-Limit", remaining: null } } } },
      ["agrees", "no: each of"],
    ],
    [
      "an empty 200 for an unknown path",
      { send: answering(isUnknownPath, EMPTY) },
      ["contradicts", "(GET /{made up} answered 200 without a body)"],
    ],
    [
      "an empty 200 for a revocation",
      { write: true, send: answering(({ method }) => method === "DELETE", EMPTY) },
      ["contradicts", "(DELETE /me/tokens/{id} answered 200 without a body)"],
    ],
    [
      "a 404 without the headers is no success",
      { send: answering(isUnknownPath, NOT_FOUND) },
      ["agrees", "no: each of"],
    ],
    [
      "no response has the headers",
      { options: { conventions: { rateLimitHeaders: { limit: null, remaining: null } } } },
      ["not_asked", "no response has the rate limit headers, by which to tell"],
    ],
  ])("%s", async (_, given, [verdict, seen]) => {
    expect(await ask("page-for-service", given)).toEqual([verdict, expect.stringContaining(seen)]);
  });
});

describe("a cache that keeps each response for every token", () => {
  /** Answers a GET by its URL alone, from the second time on. */
  function caching(change: (response: WireResponse) => WireResponse = (response) => response): Send {
    const kept = new Map<string, WireResponse>();
    return async (request) => {
      const known = kept.get(request.url);
      if (known !== undefined && (request.method ?? "GET") === "GET") return change(known);
      const response = await sendByNode(request);
      if (response.kind === "response") kept.set(request.url, response);
      return response;
    };
  }
  const withHeaders =
    (given: Readonly<Record<string, string | null>>) =>
    (response: WireResponse): WireResponse => {
      const headers = new Headers(response.headers);
      for (const [name, value] of Object.entries(given)) {
        if (value === null) headers.delete(name);
        else headers.set(name, value);
      }
      return { ...response, headers };
    };
  const verdictBehind = async (send: Send): Promise<string> => {
    await using service = await startEmulator();
    return (await examine(service, { send })).report.verdict;
  };

  test("is named in place of the token, by the id of the response or by its age", async () => {
    const verdict = "a cache answers in place of the service: GET /projects answered 401 unauthorized";
    expect(await verdictBehind(caching())).toContain(verdict);
    expect(await verdictBehind(caching(withHeaders({ "x-request-id": null, age: "7" })))).toContain(verdict);
  });
});

describe("a value with an encoded slash", () => {
  test.each<[string, Case, readonly [Verdict, string]]>([
    ["arrives as one segment, by the message", {}, ["agrees", "yes: 404 not_found"]],
    ["is decoded, by the message", { send: decoding }, ["contradicts", "decoded on the way"]],
    [
      "is refused by a proxy",
      { send: answering(hasEncodedSlash, NOT_FOUND) },
      ["contradicts", "refused by a proxy: 404 text/html; an id without a slash: 404 not_found"],
    ],
    ["is answered by a page", { send: answering(hasEncodedSlash, EMPTY) }, ["contradicts", "200 without a body"]],
    [
      "refusals do not tell an endpoint from a session",
      {
        send: async (request) => {
          const answer = await sendByNode(request);
          const isRefusal = answer.kind === "response" && answer.status === 404;
          return isRefusal ? { ...answer, text: '{"error":"not_found"}' } : answer;
        },
      },
      ["not_asked", "an unknown endpoint is refused as an unknown session is (404 not_found)"],
    ],
    [
      "an unknown session is no refusal of the service",
      { send: answering(({ url }) => url.includes("/sessions/project-automation-doctor"), NOT_FOUND) },
      ["not_asked", "an unknown session is not refused by the service: 404 text/html"],
    ],
  ])("%s", async (_, given, [verdict, seen]) => {
    expect(await ask("encoded-slash", given)).toEqual([verdict, expect.stringContaining(seen)]);
  });
});

describe("a proxy of the environment that Node ignores", () => {
  const proxy = "http://proxy.example.com:3128";
  interface Node {
    readonly address?: string;
    readonly options?: readonly string[];
    readonly environment: Readonly<Record<string, string>>;
  }
  test.each<[string, Node, string | undefined]>([
    ["for https", { environment: { HTTPS_PROXY: proxy } }, "HTTPS_PROXY"],
    ["for http", { address: "http://a.example", environment: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }, "HTTP_PROXY"],
    ["empty", { environment: { HTTPS_PROXY: "" } }, undefined],
    ["used by the variable", { environment: { HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: "1" } }, undefined],
    [
      "used by NODE_OPTIONS",
      { environment: { HTTPS_PROXY: proxy, NODE_OPTIONS: "--no-warnings --use-env-proxy" } },
      undefined,
    ],
    ["for this machine", { address: "http://localhost:8080", environment: { HTTP_PROXY: proxy } }, undefined],
  ])("%s", (_, { address = "https://a.example", options = [], environment }, name) => {
    expect(ignoredProxy(new URL(address), environment, options)).toBe(name);
  });
});
