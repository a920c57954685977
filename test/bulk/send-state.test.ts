/** The state of an item after its `send`: by its one write alone, as a table. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JournalError, SendError } from "../../src/bulk/index.ts";
import { type SendEnd, stateAfterSend, type Write } from "../../src/bulk/send-state.ts";
import { readThrown } from "../../src/bulk/thrown.ts";
import {
  ApiError,
  ArgumentError,
  AuthenticationError,
  type AutomationError,
  BadRequestError,
  ConnectionError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RedirectError,
  ServerError,
  TokenProviderError,
} from "../../src/client/index.ts";

const own = { callId: "mine", method: "POST", attempts: 1 };
const refused = { ...own, outcome: "rejected", body: { error: "said" } } as const;
/** As of a proxy. */
const turnedAway = { ...own, outcome: "rejected", body: "<html>" } as const;
const invalid = new BadRequestError("422", { ...refused, status: 422 });
const missing = new NotFoundError("404", { ...refused, status: 404 });
const limited = new RateLimitError("429", { ...refused, status: 429 });
const signIn = new AuthenticationError("401", { ...refused, status: 401 });
const lost = new ConnectionError("lost", { ...own, outcome: "unknown" });
const read = { callId: "other", method: "GET", attempts: 1 };
const missingRead = new NotFoundError("404", { ...read, status: 404 });
const signInRead = new AuthenticationError("401", { ...read, status: 401, body: { error: "said" } });
const crash = new TypeError("no such field");

const begun: Write = { outcome: { latest: "not_sent", isAmbiguous: false } };
const left: Write = { outcome: { latest: "unknown", isAmbiguous: false } };
const failed = (error: AutomationError, mayBeApplied = true): Write => ({
  outcome: {
    latest: mayBeApplied ? (error.outcome ?? "unknown") : "not_sent",
    isAmbiguous: error.priorAmbiguous === true,
  },
  end: { error: error as never },
}); // each is of a class of the library
const done: Write = {
  outcome: { latest: "accepted", isAmbiguous: false },
  end: { error: undefined, output: { number: 7 } },
};

const resolved: SendEnd = { result: 1 };
const threw = (thrown: unknown, isOwn = true): SendEnd => ({ thrown: readThrown(thrown), isOwn });

type Row = readonly [name: string, end: SendEnd, write: Write | undefined, state: string, consequence?: string];
const TABLE: readonly Row[] = [
  ["a write that succeeded", resolved, done, "done", "through"],
  ["a write that succeeded, and send did not end", "abandoned", done, "done", "through"],
  [
    "a success that cannot be read",
    threw(crash),
    failed(new ConnectionError("cut", { ...own, outcome: "accepted" })),
    "unknown",
    "hold",
  ],
  ["a read that failed after the write", threw(missingRead), done, "done", "through"],
  ["a read that was told 401 after the write", threw(signInRead), done, "done", "stop"],
  ["the application failed after the write", threw(crash), done, "done", "fail"],
  ["a second write after the write", threw(new ArgumentError("second")), done, "done", "fail"],
  ["a refusal", threw(invalid), failed(invalid), "refused", "through"],
  [
    "a refusal that send wrapped",
    threw(new Error("wrapped", { cause: invalid })),
    failed(invalid),
    "refused",
    "through",
  ],
  ["a refusal that send caught", resolved, failed(invalid), "refused", "through"],
  ...[400, 409, 413, 415, 422].flatMap((status): Row[] => [
    [`a ${status} of the service`, resolved, failed(new ApiError("", { ...refused, status })), "refused", "through"],
    [
      `a ${status} of a proxy`,
      resolved,
      failed(new ApiError("", { ...turnedAway, outcome: "unknown", status })),
      "unknown",
      "hold",
    ],
  ]),
  ...[402, 405, 406, 407, 410, 411, 412, 414, 417, 418, 421, 423, 425, 426, 428, 431, 451, 494, 499].map(
    (status): Row => [
      `a ${status}, whoever says so`,
      resolved,
      failed(new ApiError("", { ...refused, status })),
      "not_sent",
      "hold",
    ],
  ),
  [
    "a refusal after an attempt that may have been applied",
    resolved,
    failed(new BadRequestError("422", { ...refused, status: 422, priorAmbiguous: true })),
    "unknown",
    "hold",
  ],
  ["nothing at the address", resolved, failed(missing), "not_sent", "hold"],
  ["no such method", resolved, failed(new ApiError("405", { ...refused, status: 405 })), "not_sent", "hold"],
  ["the rate limit", resolved, failed(limited, false), "not_sent", "hold"],
  ["a 5xx", resolved, failed(new ServerError("503", { ...own, status: 503, outcome: "unknown" })), "unknown", "hold"],
  ["a lost response", threw(lost), failed(lost), "unknown", "hold"],
  ["a lost response, caught", resolved, failed(lost), "unknown", "hold"],
  [
    "a service that was not reached",
    resolved,
    failed(new ConnectionError("refused", { ...own, outcome: "not_sent" })),
    "not_sent",
    "hold",
  ],
  ["a refused token", resolved, failed(signIn), "not_sent", "stop"],
  [
    "a 401 of a proxy",
    resolved,
    failed(new AuthenticationError("401", { ...turnedAway, status: 401 })),
    "not_sent",
    "hold",
  ],
  ["a scope that is missing", resolved, failed(new PermissionDeniedError("403", refused)), "not_sent", "stop"],
  [
    "a 403 of a firewall",
    resolved,
    failed(new PermissionDeniedError("403", { ...turnedAway, outcome: "unknown" })),
    "unknown",
    "hold",
  ],
  [
    "a redirect that may have been followed from",
    resolved,
    failed(new RedirectError("303", { ...own, status: 303, outcome: "unknown" })),
    "unknown",
    "stop",
  ],
  [
    "a redirect that was not processed",
    resolved,
    failed(new RedirectError("307", { ...refused, status: 307 })),
    "not_sent",
    "stop",
  ],
  [
    "a journal that failed before the request",
    resolved,
    failed(new JournalError("full", { reason: "failed" }), false),
    "not_sent",
    "hold",
  ],
  [
    "a token provider that failed",
    resolved,
    failed(new TokenProviderError("no vault", { ...own, outcome: "not_sent" })),
    "not_sent",
    "stop",
  ],
  ["no end, and a request on its way", "abandoned", left, "unknown"],
  ["no end, and no request", "abandoned", begun, "not_sent"],
  ["no end, and no write", "abandoned", undefined, "not_sent"],
  ["no write", resolved, undefined, "unknown", "fail"],
  ["no write, and the application failed", threw(crash), undefined, "not_sent", "hold"],
  ["no write, and a read failed", threw(missingRead), undefined, "not_sent", "hold"],
  ["no write, and a read was told 401", threw(signInRead), undefined, "not_sent", "stop"],
  ["no write, and invalid arguments", threw(new ArgumentError("title")), undefined, "not_sent", "hold"],
  ["no write, and another client's was lost", threw(lost), undefined, "unknown", "fail"],
  ["no write, and one of its client was refused", threw(invalid), undefined, "not_sent", "hold"],
  ["no write, and another client's read was told 404", threw(missingRead, false), undefined, "not_sent"],
  ["no write, and another client's read was told 401", threw(signInRead, false), undefined, "not_sent"],
  ["no write, and another client's write was refused", threw(invalid, false), undefined, "not_sent"],
  ["no write, and another client was told 429", threw(limited, false), undefined, "not_sent", "hold"],
  [
    "no write, and another client's service failed",
    threw(new ServerError("503", { ...read, status: 503 }), false),
    undefined,
    "not_sent",
    "hold",
  ],
  [
    "no write, and another client's token provider failed",
    threw(new TokenProviderError("no vault", { ...read, outcome: "not_sent" }), false),
    undefined,
    "not_sent",
    "hold",
  ],
  ["another client's read was told 401 after the write", threw(signInRead, false), done, "done", "through"],
];

describe("after send, the state of an item with", () => {
  test.each(TABLE.map((row) => [row[0], row] as const))("%s", (_, [name, end, write, state, consequence]) => {
    const after = stateAfterSend("A-1", end, write);
    expect([after.state, after.consequence], name).toEqual([state, consequence]);
    const hasNoError = end === "abandoned" || (end === resolved && write === done);
    expect(after.error === undefined).toBe(hasNoError);
  });

  test("any write is decided by the write, whatever send did", () => {
    const writes = fc.constantFrom(done, failed(invalid), failed(missing), failed(lost), failed(limited, false));
    const ends = fc.constantFrom<SendEnd>(
      resolved,
      "abandoned",
      ...[crash, undefined, 7, lost, signInRead].map((thrown) => threw(thrown)),
    );
    fc.assert(
      fc.property(writes, ends, ends, (write, one, other) => {
        expect(stateAfterSend("a", one, write).state).toBe(stateAfterSend("a", other, write).state);
      }),
    );
  });

  test("an error of the application after the write: key, result and cause, and no print shows the result", () => {
    const { error } = stateAfterSend("A-1", threw(crash), done);
    expect(error).toBeInstanceOf(SendError);
    expect(error).toMatchObject({ kind: "send", outcome: "accepted", key: "A-1", result: { number: 7 }, cause: crash });
    expect(JSON.stringify(error)).toContain("no such field");
    expect(JSON.stringify(error)).not.toContain("number");
  });
});
