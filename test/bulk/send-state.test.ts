/** In which state an item is after its `send`: by the announced call alone, as a table. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AnnouncedCall, type SendEnd, stateAfterSend } from "../../src/bulk/send-state.ts";
import {
  ApiError,
  ArgumentError,
  AuthenticationError,
  BadRequestError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
} from "../../src/client/index.ts";

const none: AnnouncedCall = {
  callId: undefined,
  hasLeft: false,
  isWaitedFor: false,
  status: undefined,
  hasSecond: false,
};
const announced: AnnouncedCall = { ...none, callId: "mine", isWaitedFor: true };
const left: AnnouncedCall = { ...announced, hasLeft: true };
const accepted: AnnouncedCall = { ...left, status: 201 };
const refused: AnnouncedCall = { ...left, status: 422 };

const mine = { callId: "mine", method: "POST", attempts: 1 };
const read = { callId: "other", method: "GET", attempts: 1 };
const otherWrite = { callId: "other", method: "POST", attempts: 1 };
const own = {
  invalid: new BadRequestError("422", { ...mine, status: 422, outcome: "rejected" }),
  missing: new NotFoundError("404", { ...mine, status: 404, outcome: "rejected" }),
  noSuchMethod: new ApiError("405", { ...mine, status: 405, outcome: "rejected" }),
  limited: new RateLimitError("429", { ...mine, status: 429, outcome: "rejected" }),
  signIn: new AuthenticationError("401", { ...mine, status: 401, outcome: "rejected" }),
  lost: new ConnectionError("lost", { ...mine, outcome: "unknown" }),
  garbled: new ConnectionError("cut", { ...mine, status: 201, outcome: "accepted" }),
  ambiguous: new BadRequestError("422", { ...mine, status: 422, outcome: "rejected", priorAmbiguous: true }),
  ambiguousMissing: new NotFoundError("404", { ...mine, status: 404, outcome: "rejected", priorAmbiguous: true }),
  queued: new RateLimitError("not sent", { ...mine, attempts: 0, outcome: "not_sent" }),
};
const others = {
  missingRead: new NotFoundError("404", { ...read, status: 404, outcome: "rejected" }),
  failedRead: new ConnectionError("lost", { ...read, outcome: "unknown" }),
  signInRead: new AuthenticationError("401", { ...read, status: 401, outcome: "rejected" }),
  limitedWrite: new RateLimitError("429", { ...otherWrite, status: 429, outcome: "rejected" }),
  lostWrite: new ConnectionError("lost", { ...otherWrite, outcome: "unknown" }),
  unsentWrite: new RateLimitError("not sent", { ...otherWrite, attempts: 0, outcome: "not_sent" }),
  callers: new ArgumentError("not this one", { outcome: "not_sent" }),
  silent: new ArgumentError("it does not say"),
};

const resolved: SendEnd<unknown> = { result: 1 };
const rejected = (thrown: unknown): SendEnd<unknown> => ({ thrown });

/** What ended, the announced call, the state, and the consequence for the run. */
type Row = readonly [name: string, end: SendEnd<unknown>, call: AnnouncedCall, state: string, consequence?: string];
const TABLE: readonly Row[] = [
  ["its call was accepted", resolved, accepted, "done"],
  ["its call was refused, and send hid it", resolved, refused, "unknown", "fail"],
  ["its call got no response, or send did not wait", resolved, left, "unknown", "fail"],
  ["its call has not left, so send did not wait", resolved, announced, "unknown", "fail"],
  ["nothing was announced", resolved, none, "unknown", "fail"],
  ["a refusal", rejected(own.invalid), refused, "refused"],
  ["a refusal after a try that may have been applied", rejected(own.ambiguous), left, "unknown"],
  ["a missing address after such a try", rejected(own.ambiguousMissing), left, "unknown"],
  ["nothing at the address", rejected(own.missing), { ...left, status: 404 }, "not_sent", "address"],
  ["another method", rejected(own.noSuchMethod), { ...left, status: 405 }, "not_sent", "address"],
  ["the rate limit", rejected(own.limited), { ...left, status: 429 }, "not_sent"],
  ["the token", rejected(own.signIn), { ...left, status: 401 }, "not_sent", "stop"],
  ["a lost response", rejected(own.lost), left, "unknown"],
  ["a response that is cut off", rejected(own.garbled), accepted, "done"],
  ["a queue", rejected(own.queued), none, "not_sent"],
  ["a call that was stopped at onRequest", rejected(own.queued), announced, "not_sent"],
  ["another call, after an accepted one: a limit", rejected(others.limitedWrite), accepted, "done"],
  ["another call, after an accepted one: a 404", rejected(others.missingRead), accepted, "done"],
  ["another call, after an accepted one: lost", rejected(others.lostWrite), accepted, "done"],
  ["another call, after an accepted one: the token", rejected(others.signInRead), accepted, "done", "stop"],
  ["another call, after one without a response", rejected(others.missingRead), left, "unknown"],
  ["another call, after one that was refused", rejected(others.limitedWrite), refused, "unknown"],
  ["another call, after one that did not leave", rejected(others.failedRead), announced, "not_sent"],
  ["a read before: 404", rejected(others.missingRead), none, "not_sent"],
  ["a read before: lost", rejected(others.failedRead), none, "not_sent"],
  ["a read before: the token", rejected(others.signInRead), none, "not_sent", "stop"],
  ["a write without a record", rejected(others.limitedWrite), none, "unknown", "fail"],
  ["a write without a record that was not sent", rejected(others.unsentWrite), none, "not_sent"],
  ["the caller's own word", rejected(others.callers), none, "not_sent"],
  ["the caller's own word, after an accepted call", rejected(others.callers), accepted, "done"],
  ["the caller's own word, after one that left", rejected(others.callers), left, "unknown"],
  ["an error of ours that says nothing", rejected(others.silent), none, "unknown", "fail"],
  ["anything else before", rejected(new TypeError("x")), none, "unknown", "fail"],
  ["anything else after", rejected(new TypeError("x")), accepted, "unknown", "fail"],
  ["an onRequest that nothing waits for", resolved, { ...accepted, isWaitedFor: false }, "unknown", "fail"],
  ["the same, and a lost response", rejected(own.lost), { ...left, isWaitedFor: false }, "unknown", "fail"],
  ["the same, and an end that did not come", "abandoned", { ...announced, isWaitedFor: false }, "unknown"],
  ["a second call", resolved, { ...accepted, hasSecond: true }, "unknown", "fail"],
  ["an end that did not come: accepted", "abandoned", accepted, "done"],
  ["an end that did not come: on its way", "abandoned", left, "unknown"],
  ["an end that did not come: announced", "abandoned", announced, "not_sent"],
  ["an end that did not come: nothing announced", "abandoned", none, "unknown"],
];

describe("the state after send", () => {
  test.each(TABLE.map((row) => [row[0], row] as const))("%s", (_, [, end, call, state, consequence]) => {
    const after = stateAfterSend(end, call);
    expect([after.state, after.consequence]).toEqual([state, consequence]);
    expect(after.error === undefined).toBe(end === "abandoned" || (end === resolved && state === "done"));
  });

  const ends = fc.constantFrom<SendEnd<unknown>>(
    resolved,
    "abandoned",
    ...[...Object.values(own), ...Object.values(others), new Error("x"), undefined, 7].map(rejected),
  );
  const calls = fc.record({
    callId: fc.constantFrom("mine", undefined),
    hasLeft: fc.boolean(),
    isWaitedFor: fc.boolean(),
    status: fc.constantFrom(undefined, 200, 201, 404, 409, 422, 429, 500),
    hasSecond: fc.boolean(),
  });

  test("is never less than unknown once a 2xx was seen, and never refused but by the call's own error", () => {
    fc.assert(
      fc.property(ends, calls, (end, call) => {
        const { state } = stateAfterSend(end, call);
        if (call.status === 200 || call.status === 201) expect(["done", "unknown"]).toContain(state);
        if (state === "refused") expect(end).toEqual({ thrown: own.invalid });
        const isOwn = typeof end === "object" && "thrown" in end && Object.values<unknown>(own).includes(end.thrown);
        if (call.hasLeft && !isOwn) expect(["done", "unknown"]).toContain(state);
      }),
      { numRuns: 2_000 },
    );
  });
});

test.each<[string, () => unknown]>([
  [
    "a revoked proxy",
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    },
  ],
  ["an error whose message throws", () => Object.defineProperty(new Error(), "message", { get: explode })],
  [
    "a proxy that throws whatever is asked of it",
    () => new Proxy(new Error(), { get: explode, getPrototypeOf: explode }),
  ],
])("%s that was thrown is as good as one that says nothing", (_, make) => {
  expect(stateAfterSend({ thrown: make() }, left)).toMatchObject({ state: "unknown", consequence: "fail" });
});

function explode(): never {
  throw new RangeError("do not read me");
}
