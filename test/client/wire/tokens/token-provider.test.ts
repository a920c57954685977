/** Token providers: concurrent calls, 401s, time limits, failures; and swapping a static token. */
import { AsyncLocalStorage } from "node:async_hooks";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import {
  type Client,
  type ClientEvent,
  type ClientOptions,
  isAutomationError,
  memoryRateLimiter,
  type RateLimiter,
  type TokenContext,
} from "../../../../src/client/index.ts";
import { allEnded, ended, fakeTime, finish, pass, watch } from "../../../support/fake-time.ts";
import { after, good, type Reply, responds, status, tooMany } from "../../../support/replies.ts";
import { scriptedFetch } from "../../../support/scripted-fetch.ts";
import { expectClean } from "../../../support/sweep.ts";

fakeTime();

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const many = (client: Client, size: number): Promise<unknown>[] =>
  Array.from({ length: size }, () => client.sessions.get("1"));
const accepting =
  (...tokens: readonly string[]): Reply =>
  (sent) =>
    tokens.includes(sent.token) ? good(sent) : status(401);

function headersAfter(act: () => void): Record<string, string> {
  act();
  return {};
}

async function afterTurns(turns: number, act: () => void): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
  act();
}

/** A provider that returns t1, t2, …: the next one after a 401 for the current one. */
function issuer(ms: number): { token: (context: TokenContext) => Promise<string>; contexts: TokenContext[] } {
  const contexts: TokenContext[] = [];
  let current = 1;
  return {
    contexts,
    token: async (context) => {
      contexts.push(context);
      await later(ms);
      if (context.rejected === `t${current}`) current += 1;
      return `t${current}`;
    },
  };
}

describe("concurrent calls", () => {
  test("have a token of their own each: the provider may look at the present request", async () => {
    const users = new AsyncLocalStorage<string>();
    const token = async (): Promise<string> => {
      const user = users.getStore() ?? "nobody";
      await later(user.length);
      return user;
    };
    let refusals = 0;
    const service = scriptedFetch(async (sent) => {
      const user = sent.url.split("/").at(-1);
      expect(sent.token).toBe(user);
      refusals += 1;
      if (refusals === 20) return tooMany(2)(sent);
      return after(5, good)(sent);
    });
    const client = service.client({ token, maxConcurrency: 3 });
    const names = Array.from({ length: 50 }, (_, user) => `user${user % 7 === 0 ? "" : user}`);
    const calls = names.map((user) => users.run(user, () => client.sessions.get(user)));
    expect((await allEnded(calls)).filter(({ error }) => error !== undefined)).toEqual([]);
    expect(service.sent).toHaveLength(51);
  });

  test.each([
    ["the same placeholder", 0],
    ["the same placeholder, half a minute after the other's renewal", 30_000],
  ])("of two users are never sent with each other's token, though %s was refused", async (_, waitMs) => {
    const users = new AsyncLocalStorage<{ readonly name: string; token?: string }>();
    const token = async ({ rejected }: TokenContext): Promise<string> => {
      const user = users.getStore();
      if (user === undefined) throw new Error("nobody asked");
      await later(5);
      if (rejected !== undefined) user.token = `token_of_${user.name}`;
      return user.token ?? "not_signed_in";
    };
    const service = scriptedFetch((sent) => (sent.token === "not_signed_in" ? status(401) : good(sent)));
    const client = service.client({ token });
    const read = (name: string) => users.run({ name }, () => client.sessions.get(name));
    const first = watch([read("alice")]);
    await pass(waitMs);
    expect((await allEnded(["bob", "carol", "alice"].map(read))).filter(({ error }) => error !== undefined)).toEqual(
      [],
    );
    await finish(first);
    const carriedOut = service.sent.filter(({ token: sent }) => sent !== "not_signed_in");
    expect(carriedOut).toHaveLength(4);
    for (const { token: sent, url } of carriedOut) expect(sent).toBe(`token_of_${url.split("/").at(-1)}`);
  });

  test("a renewal that fails is the failure of its own call alone", async () => {
    const users = new AsyncLocalStorage<string>();
    const token = async ({ rejected }: TokenContext): Promise<string> => {
      await later(5);
      if (rejected === undefined) return "expired";
      if (users.getStore() === "alice") throw new Error("the refresh token of alice was revoked");
      return `token_of_${users.getStore()}`;
    };
    const service = scriptedFetch((sent) => (sent.token === "expired" ? status(401) : good(sent)));
    const client = service.client({ token });
    const settled = await allEnded(["alice", "bob"].map((user) => users.run(user, () => client.sessions.get(user))));
    expect(settled.map(({ error }) => isAutomationError(error) && error.kind)).toEqual(["token_provider", false]);
  });

  test("that wait ask no more: a token that has grown old in a pause is answered 401 and renewed", async () => {
    const { token, contexts } = issuer(0);
    let answered = 0;
    const service = scriptedFetch((sent) => {
      answered += 1;
      return answered === 1 ? tooMany(60)(sent) : accepting("t2")(sent);
    });
    const done = watch(many(service.client({ token, maxConcurrency: 1 }), 3));
    await pass(59_000);
    // Each call asked when it began, and the one that was answered 429 when it went back.
    expect(contexts.map(({ rejected }) => rejected)).toEqual([undefined, undefined, undefined, undefined]);
    expect((await finish(done)).map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
    // One renews. The others wait for its end, and ask plainly.
    expect(contexts.slice(4).map(({ rejected }) => rejected)).toEqual(["t1", undefined, undefined]);
  });

  test("in their hundreds in the queue of a token that is swapped move once each", async () => {
    let acquired = 0;
    const inner = memoryRateLimiter();
    const rateLimiter: RateLimiter = {
      enter: (call) => {
        const permit = inner.enter(call);
        return {
          acquire: (token) => {
            acquired += 1;
            return permit.acquire(token);
          },
          report: (head) => permit.report(head),
          release: () => permit.release(),
        };
      },
      snapshot: (...of) => inner.snapshot(...of),
    };
    const service = scriptedFetch(after(10, good));
    const client = service.client({ token: "pat_1", rateLimiter });
    const done = watch(Array.from({ length: 1_000 }, (_, index) => client.sessions.get(`${index}`)));
    await pass(5);
    client.setToken("pat_2");
    expect((await finish(done)).filter(({ error }) => error !== undefined)).toEqual([]);
    expect(acquired).toBe(1_000 + 990);
    expect(service.sent.map(({ url }) => Number(url.split("/").at(-1)))).toEqual(
      Array.from({ length: 1_000 }, (_, index) => index),
    );
  });

  test("a token that is set in the turn in which a call is admitted is the one that is sent", async () => {
    const inner = memoryRateLimiter();
    const rateLimiter: RateLimiter = {
      enter: (call) => {
        const permit = inner.enter(call);
        return {
          acquire: async (token) => {
            client.setToken("pat_2");
            return await permit.acquire(token);
          },
          report: (head) => permit.report(head),
          release: () => permit.release(),
        };
      },
      snapshot: (...of) => inner.snapshot(...of),
    };
    const service = scriptedFetch(good);
    const client = service.client({ token: "pat_1", rateLimiter });
    expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
    expect(service.sent.map(({ token }) => token)).toEqual(["pat_2"]);
  });

  test.each<[string, (swap: () => void) => ClientOptions]>([
    ["an event", (swap) => ({ onEvent: ({ type }) => type === "request" && swap() })],
    [
      "headers of an observer",
      (swap) => ({ instrumentation: { begin: () => ({ headers: () => headersAfter(swap) }) } }),
    ],
    ["a microtask before fetch", (swap) => ({ onEvent: ({ type }) => type === "request" && void afterTurns(4, swap) })],
  ])("a token that is set in %s is the one that is sent", async (_, options) => {
    const service = scriptedFetch(good);
    const client = service.client({ token: "pat_1", ...options(() => client.setToken("pat_2")) });
    expect((await ended(client.issues.create("web", { title: "T", type: "bug" }))).error).toBeUndefined();
    expect(service.sent.map(({ token }) => token)).toEqual(["pat_2"]);
  });

  test("a listener that sets another token each time is told of the request once", async () => {
    let tokens = 1;
    const onEvent = ({ type }: ClientEvent): void => {
      if (type !== "request") return;
      tokens += 1;
      client.setToken(`pat_${tokens}`);
    };
    const service = scriptedFetch(good);
    const client = service.client({ token: "pat_1", onEvent });
    expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
    expect(service.sent.map(({ token }) => token)).toEqual(["pat_2"]);
  });

  test("a signal that aborts right before fetch keeps the request back: not sent", async () => {
    const controller = new AbortController();
    const service = scriptedFetch(good);
    const onEvent = ({ type }: ClientEvent): unknown => type === "request" && afterTurns(3, () => controller.abort());
    const client = service.client({ onEvent });
    const { signal } = controller;
    const { error } = await ended(client.issues.create("web", { title: "T", type: "bug" }, { signal }));
    expect(error).toMatchObject({ kind: "abort", outcome: "not_sent", attempts: 0 });
    expect(service.sent).toEqual([]);
  });

  test("the provider is called for each attempt", async () => {
    const { token, contexts } = issuer(0);
    const service = scriptedFetch(responds(500), responds(500), good);
    await ended(service.client({ token }).sessions.get("1"));
    expect(contexts.map(({ rejected }) => rejected)).toEqual([undefined, undefined, undefined]);
  });

  test("a failure is that of the call that asked, and is not cached", async () => {
    let asked = 0;
    const token = async (): Promise<string> => {
      asked += 1;
      const mine = asked;
      await later(10);
      if (mine === 1) throw new Error("the vault is shut");
      return "t1";
    };
    const client = scriptedFetch(good).client({ token });
    const [refused, ...others] = await allEnded(many(client, 3));
    expect(refused?.error).toMatchObject({ kind: "token_provider", outcome: "not_sent", attempts: 0 });
    expect(others.map(({ error }) => error)).toEqual([undefined, undefined]);
  });
});

describe("rejected", () => {
  test("is the token that received a 401; the call is sent once more, also a POST", async () => {
    const { token, contexts } = issuer(5);
    const service = scriptedFetch(accepting("t2"));
    const { error } = await ended(service.client({ token }).issues.create("web", { title: "T", type: "bug" }));
    expect(error).toBeUndefined();
    expect(contexts.map(({ rejected }) => rejected)).toEqual([undefined, "t1"]);
    expect(service.sent.map(({ token: sent }) => sent)).toEqual(["t1", "t2"]);
  });

  test("50 calls that receive a 401 at once request one replacement, and all succeed", async () => {
    const { token, contexts } = issuer(20);
    const service = scriptedFetch((sent) => after(10, accepting("t2"))(sent));
    const settled = await allEnded(many(service.client({ token, maxConcurrency: 50 }), 50));
    expect(settled.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(contexts.filter(({ rejected }) => rejected !== undefined)).toHaveLength(1);
    expect(service.sent).toHaveLength(100);
  });

  test("the same token again: the call rejects with the 401 after one request", async () => {
    const service = scriptedFetch(responds(401));
    const { error } = await ended(service.client({ token: () => "same" }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "auth", status: 401, attempts: 1, outcome: "rejected" });
    expect(service.sent).toHaveLength(1);
  });

  test("another token that receives a 401, too: two requests, no loop", async () => {
    const { token } = issuer(0);
    const service = scriptedFetch(responds(401));
    const { error } = await ended(service.client({ token }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "auth", attempts: 2 });
    expect(service.sent).toHaveLength(2);
  });

  test("a 403 does not request another token", async () => {
    const { token, contexts } = issuer(0);
    await ended(scriptedFetch(responds(403)).client({ token }).sessions.get("1"));
    expect(contexts).toHaveLength(1);
  });

  test("a 401 does not count against retry.attempts", async () => {
    const { token } = issuer(0);
    const service = scriptedFetch(responds(500), responds(401), responds(500), good);
    expect((await ended(service.client({ token }).sessions.get("1"))).error).toBeUndefined();
  });
});

describe("time", () => {
  const hanging = (): Promise<string> => new Promise(() => undefined);

  test("a provider that never settles: TimeoutError of phase token after timeoutMs, nothing is sent", async () => {
    const service = scriptedFetch(good);
    const { error, tookMs } = await ended(service.client({ token: hanging, timeoutMs: 300 }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "timeout", phase: "token", outcome: "not_sent", attempts: 0 });
    expect(tookMs).toBeLessThanOrEqual(302);
    expect(service.sent).toHaveLength(0);
  });

  test("and after totalTimeoutMs; the next call does not share the aborted request", async () => {
    let asked = 0;
    const token = (): Promise<string> => {
      asked += 1;
      return asked === 1 ? hanging() : Promise.resolve("t1");
    };
    const client = scriptedFetch(good).client({ token });
    const { error } = await ended(client.sessions.get("1", { totalTimeoutMs: 200 }));
    expect(error).toMatchObject({ kind: "timeout", phase: "token" });
    expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
  });

  test("a provider that rejects because its signal aborted: TimeoutError all the same", async () => {
    const token = ({ signal }: TokenContext): Promise<string> =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const { error } = await ended(scriptedFetch(good).client({ token, timeoutMs: 100 }).sessions.get("1"));
    expect(error).toMatchObject({ kind: "timeout", phase: "token" });
  });
});

describe("a provider that fails", () => {
  test.each([undefined, "s3crét", "Bearer s3cret"])(
    "returns %j: an error that does not contain it, and nothing is sent",
    async (value) => {
      const service = scriptedFetch(good);
      const client = service.client({ token: () => value as string }); // which it is not
      const { error } = await ended(client.sessions.get("1"));
      expect(error).toMatchObject({ kind: "token_provider", outcome: "not_sent", attempts: 0 });
      expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/s3cr/);
      expect(service.sent).toHaveLength(0);
    },
  );

  test("throws or rejects: that is the cause of the error, and it is called once", async () => {
    for (const throwing of [
      () => Promise.reject(new Error("vault")),
      () => raise(new Error("vault")),
      () => raise("vault"),
    ]) {
      let asked = 0;
      const token = (): Promise<string> => {
        asked += 1;
        return throwing();
      };
      const { error } = await ended(scriptedFetch(good).client({ token }).sessions.get("1"));
      expect(error).toMatchObject({ kind: "token_provider", attempts: 0 });
      expect(String((error as Error).cause)).toContain("vault");
      expect(String(error)).toBe("TokenProviderError: sessions.get: the token provider failed (vault)");
      expect(asked).toBe(1);
    }
  });

  test("its message is shown in one line, as long as a sentence, with the reason and the code of the innermost cause", async () => {
    const cause = Object.assign(new Error(`no\n  route ${"-".repeat(1_000)}`), { code: "EHOSTUNREACH" });
    const token = (): Promise<string> => Promise.reject(new Error("the vault cannot be read", { cause }));
    const { error } = await ended(scriptedFetch(good).client({ token }).sessions.get("1"));
    const { message } = error as Error;
    expect(message).toMatch(/^sessions\.get: the token provider failed \(no route -+…\)$/);
    expect(message.length).toBeLessThan(400);
  });

  test("no token of the service that it quotes is shown, nor a value that is named as a secret", async () => {
    const known = "pat_k1_9fQ2xR7vLm3Tz8";
    const tokens = ["pat_k2_theNextSecretOfIt", "pat_live_4hG7kP2qWx9Zr1", "pat_k3_Ab3-dE6_gH9jK2mN5pQ8"];
    const secrets = [known, ...tokens, "hunter2hunter2", "9fQ2xR7vLm3Tz8"];
    const said = `${secrets.slice(0, -2).join(" and ")} are revoked, password=hunter2hunter2`;
    let asked = 0;
    const token = (): string => {
      asked += 1;
      return asked === 1 ? known : raise(new Error(said));
    };
    const client = scriptedFetch(good).client({ token });
    expect((await ended(client.sessions.get("1"))).error).toBeUndefined();
    const { error } = await ended(client.sessions.get("1"));
    expect(error).toMatchObject({ message: expect.stringContaining("[redacted] are revoked, password=[redacted]") });
    expectClean(error, secrets);
  });
});

describe("swapping a static token", () => {
  test("with 50 requests in flight: these finish, and all later ones carry the new token", async () => {
    const service = scriptedFetch(after(100, good));
    const client = service.client({ token: "old", maxConcurrency: 50 });
    const done = watch(many(client, 80));
    await pass(50);
    client.setToken("new");
    const settled = await finish(done);
    expect(settled.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(service.sent.map(({ token }) => token)).toEqual([
      ...Array.from({ length: 50 }, () => "old"),
      ...Array.from({ length: 30 }, () => "new"),
    ]);
  });

  test("a call that receives a 401 with the old token is sent once more with the new one", async () => {
    const service = scriptedFetch(after(100, accepting("new")));
    const client = service.client({ token: "old" });
    const done = watch([client.issues.create("web", { title: "T", type: "bug" })]);
    await pass(50);
    client.setToken("new");
    expect((await finish(done))[0]?.error).toBeUndefined();
    expect(service.sent.map(({ token }) => token)).toEqual(["old", "new"]);
  });
});

function raise(thrown: unknown): never {
  throw thrown;
}
