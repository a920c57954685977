/** The gate by itself, with tickets that nobody awaits. */
import { expect, test } from "vitest";
import type { RateLimitHead } from "../../../../src/core/rate-limit/rate-limiter.ts";
import { Ticket, TokenGate } from "../../../../src/core/rate-limit/token-gate.ts";
import { fakeNow, fakeTime, pass, standStill } from "../../../support/fake-time.ts";

fakeTime();

const OK: RateLimitHead = { status: 200, limit: undefined, remaining: undefined, retryAfterMs: undefined };
const refused = (retryAfterMs: number): RateLimitHead => ({ ...OK, status: 429, retryAfterMs });

let positions = 0;

/** A ticket that counts how often it was woken. */
class Noted extends Ticket {
  wakes = 0;

  override wake(): void {
    this.wakes += 1;
  }
}

function entered(gate: TokenGate, maxConcurrency = 10): Noted {
  const limits = { maxConcurrency, maxPauses: 5, maxPauseMs: Infinity, endsAt: Infinity, timeoutMs: Infinity };
  const call = { ...limits, service: "https://a.example/api/v1", signal: new AbortController().signal };
  const ticket = new Noted(() => gate, call, ++positions);
  gate.enter(ticket);
  return ticket;
}

function answered(gate: TokenGate, ticket: Ticket, head: RateLimitHead): void {
  gate.report(ticket, head);
  gate.leave(ticket);
}

test.for([
  { pauses: 1, distanceMs: 0 },
  { pauses: 2, distanceMs: 160 },
])("one that is refused after $pauses pauses near to each other sets a distance of $distanceMs ms", async (row) => {
  const gate = new TokenGate();
  for (let count = 0; count < row.pauses; count += 1) {
    answered(gate, entered(gate), refused(0));
    await pass(300);
  }
  answered(gate, entered(gate), OK);
  await pass(80);
  answered(gate, entered(gate), refused(0));
  expect(gate.state.pace.distanceMs).toBe(row.distanceMs);
});

test("the next probe does not wait for the body of a probe that was answered in a pause", async () => {
  const gate = new TokenGate();
  const [first, late] = [entered(gate), entered(gate)];
  answered(gate, first, refused(1_000));
  await pass(1_100);
  const probe = entered(gate);
  answered(gate, late, refused(1_000));
  gate.report(probe, OK);
  await pass(1_100);
  expect(entered(gate).state).toBe("sent");
});

test("when one of those that are awake leaves, others are awake in its place", async () => {
  const gate = new TokenGate();
  entered(gate, 1);
  const waiting = Array.from({ length: 100 }, () => entered(gate, 1));
  // Each that wakes sees that the slot is held for long.
  await pass(300);
  for (const waiter of waiting) waiter.wakes = 0;
  gate.look(waiting[0] ?? expect.fail(), fakeNow());
  const awake = waiting.filter(({ wakes }) => wakes > 0);
  expect(awake).toHaveLength(16);
  const last = awake.at(-1) ?? expect.fail();
  gate.leave(last);
  expect(waiting.filter((waiter) => waiter !== last && waiter.wakes > 0).length).toBeGreaterThan(15);
});

test("a number that is left is not believed where the clock, a fake one, has gone back since", async () => {
  const gate = new TokenGate();
  await pass(1_000);
  answered(gate, entered(gate), { ...OK, remaining: 0 });
  standStill(-100);
  expect([entered(gate), entered(gate)].map(({ state }) => state)).toEqual(["sent", "sent"]);
});

test("a pause that other processes do not know of yet keeps its count and its probe", () => {
  const gate = new TokenGate();
  answered(gate, entered(gate), refused(1_000));
  const { pace } = gate.state;
  gate.learn(new TokenGate().state);
  expect(gate.state).toMatchObject({ refusals: 1, pace, pause: { askedMs: 1_000 } });
});

test("the 429 of a request that was sent before an earlier pause closes an open gate: one goes first again", async () => {
  const gate = new TokenGate();
  const [first, late] = [entered(gate), entered(gate)];
  answered(gate, first, refused(100));
  await pass(110);
  answered(gate, entered(gate), OK);
  answered(gate, late, refused(100));
  await pass(110);
  expect([entered(gate), entered(gate)].map(({ state }) => state)).toEqual(["sent", "waiting"]);
});

test("a call that has got through counts its pauses from zero", async () => {
  const gate = new TokenGate();
  const ticket = entered(gate);
  answered(gate, ticket, refused(100));
  expect(ticket.pauses).toBe(1);
  await pass(110);
  gate.enter(ticket);
  answered(gate, ticket, OK);
  expect(ticket.pauses).toBe(0);
});
