/**
 * Whose word a 2xx is: each kind of operation, each kind of body, and the end of the call. Every form of a body is in
 * `test/client/unit/call/outcome.test.ts`.
 */
import { describe, expect, test } from "vitest";
import { type AutomationError, type Client, path } from "../../../../src/client/index.ts";
import { ended, fakeTime } from "../../../support/fake-time.ts";
import { bodyThat, text } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";

fakeTime();

const anything = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as const;
const IT_WAS_ANOTHER = "so it may not be from the service";

/** Whether a body is due, and whether a 2xx of the service without a usable one is a success all the same. */
interface Operation {
  readonly name: string;
  readonly isDue: boolean;
  readonly isDeletion?: true;
  /** Resolves with the JSON of the body. */
  readonly hasOutput?: true;
  readonly isRead?: true;
  readonly call: (client: Client) => Promise<unknown>;
}

const OPERATIONS: readonly Operation[] = [
  {
    name: "issues.create",
    isDue: true,
    call: (client) => client.issues.create("web", { title: "One", type: "bug" }),
  },
  { name: "sessions.get", isDue: true, isRead: true, call: (client) => client.sessions.get("ses_1") },
  { name: "tokens.revoke", isDue: false, isDeletion: true, call: (client) => client.tokens.revoke("tok_1") },
  {
    name: "POST with a schema",
    isDue: true,
    hasOutput: true,
    call: (client) => client.request({ method: "POST", path: path`/x`, schema: anything }),
  },
  {
    name: "POST without a schema",
    isDue: false,
    hasOutput: true,
    call: (client) => client.request({ method: "POST", path: path`/x` }),
  },
  {
    name: "GET with a schema",
    isDue: true,
    isRead: true,
    hasOutput: true,
    call: (client) => client.request({ method: "GET", path: path`/x`, schema: anything }),
  },
  {
    name: "GET without a schema",
    isDue: false,
    isRead: true,
    hasOutput: true,
    call: (client) => client.request({ method: "GET", path: path`/x` }),
  },
  {
    name: "HEAD",
    isDue: false,
    isRead: true,
    isDeletion: true,
    call: (client) => client.request({ method: "HEAD", path: path`/x` }),
  },
  {
    name: "DELETE without a schema",
    isDue: false,
    isDeletion: true,
    hasOutput: true,
    call: (client) => client.request({ method: "DELETE", path: path`/x` }),
  },
  {
    name: "DELETE with a schema",
    isDue: false,
    isDeletion: true,
    hasOutput: true,
    call: (client) => client.request({ method: "DELETE", path: path`/x`, schema: anything }),
  },
];

const STATUSES = [200, 201, 299];
const EMPTY = ["", "\ufeff \n"];
const PAGES = ["\ufeff <!doctype html>", "OK"];
const TORN = ["{", '\ufeff\n [{"id":"x"', '{"a":1}{"a":2}'];

/** The end of a call, with each 2xx and this body. */
async function ends({ call }: Operation, body: string): Promise<readonly (AutomationError | undefined)[]> {
  const found: (AutomationError | undefined)[] = [];
  for (const status of STATUSES) {
    const service = scriptedFetch(() => text(body, status));
    const { error } = await ended(call(service.client()));
    expect(service.sent).toHaveLength(1);
    found.push(error as AutomationError | undefined);
  }
  return found;
}

describe.each(OPERATIONS)("$name", (operation) => {
  const { isDue, isDeletion = false, hasOutput = false, isRead = false, call } = operation;
  const unknown = isRead ? undefined : "unknown";

  test.each(PAGES)("a page, or words: %j", async (body) => {
    for (const error of await ends(operation, body)) {
      expect(error).toMatchObject({ kind: "parse", attempts: 1, rawBody: body.replace(/^\ufeff/, "") });
      expect(error?.outcome).toBe(unknown);
      expect(error?.message).toContain(IT_WAS_ANOTHER);
    }
  });

  test.each(EMPTY)("no body: %j", async (body) => {
    for (const error of await ends(operation, body)) {
      if (!isDue) {
        expect(error).toBeUndefined();
        continue;
      }
      expect(error).toMatchObject({ kind: "parse", attempts: 1 });
      expect(error?.outcome).toBe(unknown);
      expect(error?.message).toContain(IT_WAS_ANOTHER);
    }
  });

  test.each(TORN)("the beginning of JSON: %j", async (body) => {
    for (const error of await ends(operation, body)) {
      if (isDeletion) {
        expect(error).toBeUndefined();
        continue;
      }
      expect(error).toMatchObject({ kind: "parse", outcome: "accepted", attempts: 1 });
      expect(error?.message).not.toContain("probably");
    }
  });

  test.each(["null", '"text"', '\ufeff {"a":[null]} \n'])("one JSON value: %s", async (body) => {
    for (const status of STATUSES) {
      const { value, error } = await ended(call(scriptedFetch(() => text(body, status)).client()));
      if (hasOutput) expect([value, error]).toEqual([JSON.parse(body.trim()), undefined]);
      else if (isDeletion) expect([value, error]).toEqual([undefined, undefined]);
      else expect(error).toMatchObject({ kind: "validation", outcome: "accepted" });
    }
  });

  const LOST = { breaks: "connection", stalls: "timeout" } as const;
  describe.each(["breaks", "stalls"] as const)("a body that %s", (what) => {
    const lost = async (first: string): Promise<AutomationError | undefined> => {
      const service = scriptedFetch(bodyThat(what, first, 200));
      const { error } = await ended(call(service.client({ timeoutMs: 500, retry: { attempts: 1 } })));
      expect(service.sent).toHaveLength(1);
      return error as AutomationError | undefined;
    };

    test.each(["", "\n\t"])("before it begins, behind %j", async (first) => {
      const error = await lost(first);
      if (isDeletion) {
        expect(error).toBeUndefined();
        return;
      }
      expect(error).toMatchObject({ kind: LOST[what], attempts: 1 });
      expect(error?.outcome).toBe(isDue ? unknown : "accepted");
      expect(error?.message).not.toContain("probably");
    });

    test.each([" [", '{"number":1'])("behind the beginning of JSON: %j", async (first) => {
      const error = await lost(first);
      if (isDeletion) expect(error).toBeUndefined();
      else expect(error).toMatchObject({ kind: LOST[what], outcome: "accepted", rawBody: first });
    });

    test.each(["<", "Bad Gateway"])("behind the beginning of a page: %j", async (first) => {
      const error = await lost(first);
      expect(error).toMatchObject({ kind: isDeletion ? "parse" : LOST[what], rawBody: first });
      expect(error?.outcome).toBe(unknown);
      expect(error?.message).toContain(IT_WAS_ANOTHER);
    });
  });
});

test("a body that is too large is judged by its beginning", async () => {
  const options = { maxResponseBytes: 20 };
  const create = (body: string) =>
    ended(
      scriptedFetch(() => text(body, 201))
        .client(options)
        .issues.create("web", { title: "One", type: "bug" }),
    );
  const long = "x".repeat(40);
  expect((await create(`{"number":1,"title":"${long}"}`)).error).toMatchObject({ kind: "parse", outcome: "accepted" });
  const page = (await create(`<html>${long}`)).error;
  expect(page).toMatchObject({ kind: "parse", outcome: "unknown" });
  expect(String(page)).toContain(IT_WAS_ANOTHER);
});

test("an abort within the body of a write: by what has come of it", async () => {
  const aborted = async (first: string): Promise<unknown> => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const client = scriptedFetch(bodyThat("stalls", first, 201)).client();
    const call = client.issues.create("web", { title: "One", type: "bug" }, { signal: controller.signal });
    return (await ended(call)).error;
  };
  expect(await aborted("")).toMatchObject({ kind: "abort", outcome: "unknown" });
  expect(await aborted("{")).toMatchObject({ kind: "abort", outcome: "accepted" });
  expect(await aborted("<")).toMatchObject({ kind: "abort", outcome: "unknown" });
});

describe("a second page after an attempt that may have been applied", () => {
  test("a DELETE reports both: the page, and that an earlier request may have been applied", async () => {
    const service = scriptedFetch(bodyThat("breaks", "", 500), () => text("<html>", 200));
    const { error } = await ended(service.client().tokens.revoke("tok_1"));
    expect(error).toMatchObject({ kind: "parse", outcome: "unknown", priorAmbiguous: true, attempts: 2 });
  });
});
