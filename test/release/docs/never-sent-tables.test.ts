/**
 * The tables of docs/runtimes.md and docs/networks.md about writes that were never sent: each row is run, and a row that is
 * not known here fails.
 */
import { channel } from "node:diagnostics_channel";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Agent, fetch as undiciFetch } from "undici";
import { describe, expect, test } from "vitest";
import { type AutomationError, Client, type ClientOptions, type FetchFunction } from "../../../src/client/index.ts";
import { findRuntimes, type RuntimeKind } from "../../client/runtimes/binaries.ts";
import { TRAITS } from "../../client/runtimes/traits.ts";
import { runProgram } from "../../support/child-program.ts";
import { fetchFailed, SERVICE_HOST } from "../../support/fetch-errors.ts";
import { rejection } from "../../support/promises.ts";
import { CLOSED_PORT, rawServer } from "../../support/raw-server.ts";
import { boundRows, tableOf } from "./tables.ts";

const REFUSED = `http://127.0.0.1:${CLOSED_PORT}/api/v1`;
const DENO_FLAGS = ["run", "--no-check", "--allow-all"];
const require = createRequire(import.meta.url);
const words = (cell: string): string => cell.replaceAll("`", "");

describe("docs/runtimes.md, a connection that was not made", () => {
  const { rows } = tableOf("docs/runtimes.md", "", "connection refused", "host unknown");
  const MEANT = {
    not_sent: "not sent: retried",
    lost: "may have been sent: only reads are retried",
    failed: '`outcome: "unknown"`, no retry',
  } as const;
  const cases = {
    "Node, Bun": [TRAITS.node, TRAITS.bun],
    Deno: [TRAITS.deno],
    workerd: [TRAITS.workerd],
    browsers: [TRAITS.chromium, TRAITS.firefox],
  };
  // The conformance suite runs the traits on each runtime.
  test.each(boundRows(rows, cases))("$first", ({ cells: [refused, unknown], run }) => {
    for (const traits of run) {
      expect(refused).toBe(MEANT[traits.refused]);
      expect(unknown === "the same" ? refused : unknown).toBe(MEANT[traits.unknownHost]);
    }
  });
});

describe("docs/networks.md, never sent or unknown", () => {
  const { rows } = tableOf("docs/networks.md", "Node saw its headers leave");
  const { rows: platforms } = tableOf("docs/networks.md", "a connection to the service is refused");
  const outcomeOf = async (options: ClientOptions): Promise<string | undefined> => {
    const client = new Client({ baseUrl: REFUSED, token: "t", retry: false, ...options });
    return ((await rejection(client.issues.create("web", { title: "One", type: "bug" }))) as AutomationError).outcome;
  };
  /** Fails as undici does whose request has ended with an error, before its headers left. */
  const endedBy = (error: TypeError): FetchFunction => {
    return async (url, { method }) => {
      const { origin, pathname } = new URL(url);
      const request = { method, origin, path: pathname };
      channel("undici:request:create").publish({ request });
      channel("undici:request:error").publish({ request, error: error.cause });
      throw error;
    };
  };
  const failing =
    (error: Error): FetchFunction =>
    () =>
      Promise.reject(error);
  const cases: Readonly<Record<string, () => Promise<string | undefined>>> = {
    "yes: any": async () => {
      await using service = await rawServer([({ socket }) => void socket.destroy()]);
      return await outcomeOf({ baseUrl: service.baseUrl });
    },
    "no: ended the connecting, whatever it is called": () => {
      const connect = (_: object, connected: (error: Error, socket: null) => void): void =>
        connected(new Error("it has no code"), null);
      return outcomeOf({ fetch: undiciFetch, fetchOptions: { dispatcher: new Agent({ connect }) } });
    },
    "no: ended this request, and says that it was never sent": () =>
      outcomeOf({ fetch: endedBy(fetchFailed("ECONNREFUSED", { hostname: "other" })) }),
    "no: Node's own `fetch` refused the URL or the dispatcher": () =>
      outcomeOf({ baseUrl: "http://127.0.0.1:1/api/v1" }),
    "no: is your own, without the platform's error as its `cause`": () => {
      const wrapped: FetchFunction = (url, init) => fetch(url, init).catch(() => Promise.reject(new Error("mine")));
      return outcomeOf({ fetch: wrapped });
    },
    "cannot tell: names the service: its host, or its address and port": () =>
      outcomeOf({ baseUrl: `https://${SERVICE_HOST}`, fetch: failing(fetchFailed("ECONNREFUSED")) }),
    "cannot tell: names another host, or none": () =>
      outcomeOf({
        baseUrl: `https://${SERVICE_HOST}`,
        fetch: failing(fetchFailed("ECONNREFUSED", { hostname: "other" })),
      }),
  };
  const named = rows.map(([seen, error, outcome]) => [`${seen}: ${error}`, outcome ?? ""]);
  test.each(boundRows(named, cases))("$first: $cells", async ({ cells: [outcome = ""], run }) => {
    expect(await run()).toBe(words(outcome === "by platform, below" ? (platforms[0]?.[1] ?? "") : outcome));
  });
});

describe("docs/networks.md, a connection to the service is refused", () => {
  const { head, rows } = tableOf("docs/networks.md", "a connection to the service is refused");
  const methods = head.slice(1).map((cell) => words(cell).split(", "));
  const ownFetch = "fetch: (url, init) => fetch(url, init)";
  const nodeFetch = `fetch: (await import("${pathToFileURL(require.resolve("node-fetch")).href}")).default`;
  const here = (kind: RuntimeKind, options = "") =>
    findRuntimes()
      .here.filter((one) => one.kind === kind)
      .map(({ executable }) => ({ executable, options, flags: kind === "deno" ? DENO_FLAGS : [] }));
  const cases = {
    "Node, also with node-fetch": [...here("node"), ...here("node", nodeFetch)],
    "Deno, Bun": [...here("deno"), ...here("bun")],
    "Deno, with `fetchOptions.client`": here("deno", "fetchOptions: { client: Deno.createHttpClient({}) }"),
    "Bun or Deno, with a `fetch` of your own": [...here("bun", ownFetch), ...here("deno", ownFetch)],
    "browsers, workerd": "of the conformance suite",
  } as const;

  test.each(boundRows(rows, cases))("$first: $cells", async ({ cells, run }) => {
    if (typeof run === "string") {
      for (const { refused } of [TRAITS.chromium, TRAITS.firefox, TRAITS.workerd]) expect(refused).toBe("lost");
      expect(cells).toEqual(["`unknown`", "`unknown`"]);
      return;
    }
    const expected = methods.flatMap((group, at) => group.map((method) => [method, words(cells[at] ?? "")]));
    for (const { executable, options, flags } of run) {
      const program = `
        import { path } from "./client.mjs";
        const client = new Client({ baseUrl: "${REFUSED}", token: "t", retry: false, ${options} });
        const outcomeOf = (method) => client.request({ method, path: path\`/x\` }).catch(({ outcome }) => outcome);
        const methods = ${JSON.stringify(expected.map(([method]) => method))};
        console.log(JSON.stringify(await Promise.all(methods.map(async (name) => [name, await outcomeOf(name)]))));`;
      const { stdout, stderr } = await runProgram(program, { executable, flags });
      expect(stderr).toBe("");
      expect(JSON.parse(stdout), executable).toEqual(expected);
    }
  });
});
