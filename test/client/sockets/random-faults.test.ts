/**
 * Calls with random options against a service that fails at random, over real sockets, many at a time: what a call says
 * happened is compared with what the service saw of it.
 */
import { expect, onTestFinished, test } from "vitest";
import {
  type AnyAutomationError,
  type CallOptions,
  Client,
  type ClientEvent,
  type EndEvent,
  isAutomationError,
  memoryRateLimiter,
  type Outcome,
} from "../../../src/client/index.ts";
import {
  finish,
  goodHead,
  halfBody,
  head,
  pause,
  reset,
  respond,
  send,
  sequence,
  silence,
} from "../../support/raw-behaviours.ts";
import { type Behaviour, type RawRequest, rawServer } from "../../support/raw-server.ts";

/** What the service did with a request: the caller can know it, or only that the service may have processed it. */
type Verdict = "processed" | "rejected" | "ambiguous";

const after = (seconds: string): readonly (readonly [string, string])[] => [["Retry-After", seconds]];

type Fault = readonly [Verdict, Behaviour];

const ANSWERED: readonly Fault[] = [
  ["processed", (exchange) => respond({ body: bodyOf(exchange.request) })(exchange)],
  [
    "processed",
    (exchange) => respond({ headers: [["RateLimit-Remaining", "1"]], body: bodyOf(exchange.request) })(exchange),
  ],
  ["processed", respond({ status: 201, body: "{" })],
  ["processed", respond({ body: "" })],
  ["processed", respond({ body: '{"id":1}' })],
  ["processed", sequence(goodHead(), halfBody, finish)],
  ["processed", sequence(goodHead(), halfBody, pause(3), reset)],
  ["rejected", respond({ status: 429, headers: after("0.02"), body: "{}" })],
  ["rejected", respond({ status: 429, headers: after("0"), body: "<p>" })],
  ...[302, 401, 403, 404, 409, 422].map((status) => ["rejected", respond({ status, body: '{"error":"no"}' })] as const),
  ["ambiguous", respond({ status: 503, headers: after("0.02"), body: "{}" })],
  ...[408, 500, 502].map((status) => ["ambiguous", respond({ status, body: "{}" })] as const),
  ["ambiguous", reset],
  ["ambiguous", finish],
  ["ambiguous", sequence(send(head(200, []).slice(0, 12)), reset)],
];
/** Only time ends a call to which the service says nothing more. */
const UNANSWERED: readonly Fault[] = [
  ["processed", sequence(goodHead(), halfBody, silence)],
  ["ambiguous", silence],
];
const FAULTS = [...ANSWERED, ...UNANSWERED];
/** Of a call that may meet silence. */
const SHORT_MS = 150;

/** The id of a session, or the title of an issue: each call has its own. */
function subjectOf({ method, target, body }: RawRequest): string {
  return method === "POST" ? (JSON.parse(body) as { title: string }).title : target.slice(target.lastIndexOf("/") + 1);
}

function bodyOf(request: RawRequest): string {
  const subject = subjectOf(request);
  return JSON.stringify({ id: subject, state: "on", number: 1, title: subject, status: "open" });
}

/** How a call ended. */
interface Result {
  readonly subject: string;
  readonly isWrite: boolean;
  readonly retry: CallOptions["retry"];
  readonly error: AnyAutomationError | undefined;
}

/** Calls that meet one fault at each of their requests, so that no outcome depends on chance. */
const FAULT_OF = new Map(FAULTS.map((fault, index) => [`fault${index}`, fault]));

/** A call that no limit ends meets no silence: so some get through, on a machine however slow. */
const isPatient = (subject: string): boolean => subject.startsWith("patient");

const CALLS = 200;
const AT_ONCE = 16;

test.each([1, 2])("seed %i: what calls say is what the service saw, and nothing is sent twice", async (seed) => {
  const random = randomFrom(seed);
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value; // never empty
  const seen = new Map<string, Verdict[]>();
  await using server = await rawServer((request) => {
    const subject = subjectOf(request);
    // Two of three requests succeed or are told to wait, so that calls get through to their later requests.
    const faults = isPatient(subject) ? ANSWERED : FAULTS;
    const [verdict, behaviour] = FAULT_OF.get(subject) ?? pick(random() < 0.4 ? faults.slice(0, 2) : faults);
    seen.set(subject, [...(seen.get(subject) ?? []), verdict]);
    return behaviour;
  });
  const events = new Map<string, ClientEvent[]>();
  const rateLimiter = memoryRateLimiter();
  const client = new Client({
    baseUrl: server.baseUrl,
    token: "pat_key_TheSecretOfTheToken",
    rateLimiter,
    maxConcurrency: 6,
    retry: { minDelayMs: 1, maxDelayMs: 10 },
    onEvent: (event) => void events.set(event.callId, [...(events.get(event.callId) ?? []), event]),
  });
  const timers = new Set<NodeJS.Timeout>();
  onTestFinished(() => {
    for (const timer of timers) clearTimeout(timer);
  });

  const outcomes = new Set<Outcome | "resolved" | undefined>();
  const results: Result[] = [];
  const run = async (subject: string, isWrite: boolean, options: CallOptions): Promise<void> => {
    const call = isWrite
      ? client.issues.create("p", { title: subject, type: "bug" }, options)
      : client.sessions.get(subject, options);
    const error: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error !== undefined && !isAutomationError(error)) throw error;
    outcomes.add(error === undefined ? "resolved" : error.outcome);
    results.push({ subject, isWrite, retry: options.retry, error });
  };
  const runAtRandom = async (index: number): Promise<void> => {
    const options: CallOptions = { retry: pick([undefined, undefined, false, { attempts: 2 }, { rateLimitWaits: 0 }]) };
    const end = pick(["none", "attempt", "signal", "time"]);
    const controller = new AbortController();
    if (end === "signal") timers.add(setTimeout(() => controller.abort(), random() * 60));
    if (end === "signal") options.signal = controller.signal;
    if (end === "time") options.totalTimeoutMs = 10 + random() * 80;
    if (end === "attempt") options.timeoutMs = SHORT_MS;
    await run(`${end === "none" ? "patient" : "call"}${index}`, random() < 0.6, options);
  };
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < CALLS) await runAtRandom(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const failed = results.filter(({ error }) => error !== undefined).length;
  expect([failed > 0, failed < CALLS]).toEqual([true, true]);
  for (const [subject, fault] of FAULT_OF) {
    const limits = UNANSWERED.includes(fault) ? { timeoutMs: SHORT_MS } : {};
    await run(subject, seed === 1, { retry: { attempts: 1, rateLimitWaits: 1 }, ...limits });
  }
  await run("aborted", seed === 1, { signal: AbortSignal.abort() });

  expect(results).toHaveLength(CALLS + FAULT_OF.size + 1);
  for (const { subject, isWrite, retry, error } of results) {
    const verdicts = seen.get(subject) ?? [];
    const context = `${subject}: ${verdicts.join(", ")}; ${error?.message}`;
    const maybe = verdicts.filter((verdict) => verdict !== "rejected");
    if (isWrite) expect(maybe.length, context).toBeLessThanOrEqual(1);
    if (retry === false) expect(verdicts.length, context).toBeLessThanOrEqual(1);
    if (error === undefined) expect(verdicts.at(-1), context).toBe("processed");
    if (error?.outcome === "not_sent") expect(verdicts, context).toEqual([]);
    if (error?.outcome === "rejected") expect(isWrite ? maybe : [], context).toEqual([]);
    if (error !== undefined && error.outcome === undefined) expect(isWrite, context).toBe(false);
    if (error?.outcome === "unknown") expect(isWrite, context).toBe(true);
    if (error?.outcome === "accepted") expect(verdicts, context).toContain("processed");
    if (error !== undefined) expect(error.attempts, context).toBeGreaterThanOrEqual(verdicts.length);
  }
  for (const all of events.values()) {
    // The end of a pause has the id of the call that told of it, which may be over.
    const told = all.filter(({ type }) => type !== "rate_limit_resume");
    const types = told.map(({ type }) => type);
    expect(types.filter((type) => type === "end")).toEqual(["end"]);
    expect(types.at(-1)).toBe("end");
    // A request that is told of is held back if the call is stopped before `fetch` is called.
    const requests = types.filter((type) => type === "request").length;
    const { kind, attempts } = told.at(-1) as EndEvent;
    const isStopped = kind === "timeout" || kind === "abort";
    expect(isStopped ? [requests, requests - 1] : [requests]).toContain(attempts);
  }
  const certain = ["resolved", "not_sent", "rejected", "accepted", ...(seed === 1 ? ["unknown"] : [undefined])];
  expect([...outcomes]).toEqual(expect.arrayContaining(certain));
});

/** A generator of numbers in [0, 1) that a seed repeats. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
