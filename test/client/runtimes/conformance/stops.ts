/** What ends a call before its answer: the caller's signal, and time. */
import type { Bench, Case } from "./bench.ts";
import { equal } from "./check.ts";

/** Longer than any case may take. */
const NEVER_MS = 60_000;
/** A time limit in which a request arrives, on a busy machine and in a browser too. */
const TIMEOUT_MS = 4_000;
/** A program computes for longer than this limit, on each platform: it is shorter. */
const SHORT_MS = 1_000;

/**
 * The platform's own fetch, and a word when the first part of a body has been read: in a worker of Firefox, an abort between
 * the head and that part may not reach the service.
 */
function withPart(): { fetch: typeof fetch; came: Promise<void> } {
  let tell = (): void => undefined;
  const came = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return {
    came,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const { body } = response;
      if (body === null) return response;
      const getReader = (): ReadableStreamDefaultReader => {
        const reader = new ReadableStreamDefaultReader(body);
        const read = reader.read.bind(reader);
        return Object.assign(reader, { read: () => read().finally(tell) });
      };
      Object.assign(body, { getReader });
      return response;
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

async function abortedIn(bench: Bench, place: "headers" | "body"): Promise<void> {
  const service = await bench.service();
  await service.fault(place === "headers" ? { delayMs: NEVER_MS } : { stallAfterBytes: 5 });
  const controller = new AbortController();
  const reason = { because: "the user left" };
  const { fetch, came } = withPart();
  const call = bench.client(service, { fetch }).projects.list({}, { signal: controller.signal }).toArray();
  const refusal = bench.refusal(call, "AbortError");
  await (place === "headers" ? service.arrived(1) : bench.until("the first part of the body", came));
  await turn(); // the client waits for more
  controller.abort(reason);
  const error = await refusal;
  equal(error.cause === reason, true, "the cause is the reason");
  equal([error.kind, error.attempts, error.cursor], ["abort", 1, null]);
  const [request] = await service.ended(1);
  equal(request?.outcome, "aborted", "what the service saw");
}

export const stops: readonly Case[] = [
  {
    name: "a call that was aborted before sends nothing; the reason is the cause",
    run: async (bench) => {
      const service = await bench.service();
      const reason = { because: "it is too late" };
      const call = bench.client(service).sessions.get("any", { signal: AbortSignal.abort(reason) });
      const error = await bench.refusal(call, "AbortError");
      equal([error.cause === reason, error.outcome, error.attempts], [true, "not_sent", 0]);
      equal(await service.requests(), []);
    },
  },
  { name: "an abort while the service is silent ends the request", run: (bench) => abortedIn(bench, "headers") },
  { name: "an abort while the body stalls ends the request", run: (bench) => abortedIn(bench, "body") },
  {
    name: "timeoutMs ends the wait for the head of a response",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ delayMs: NEVER_MS, times: 9 });
      const call = bench
        .client(service, { timeoutMs: TIMEOUT_MS, ...bench.quick })
        .projects.list()
        .toArray();
      const { phase, attempts, outcome } = await bench.refusal(call, "TimeoutError");
      equal([phase, attempts, outcome], ["headers", 3, undefined]);
      const log = await service.ended(3);
      equal(
        log.map((request) => request.outcome),
        ["aborted", "aborted", "aborted"],
      );
    },
  },
  {
    name: "timeoutMs ends a wait for a body",
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ stallAfterBytes: 9 });
      const options = { timeoutMs: TIMEOUT_MS, retry: false } as const;
      const call = bench.client(service, options).tokens.create({ name: "job", scopes: [] });
      const { phase, outcome, rawBody } = await bench.refusal(call, "TimeoutError");
      equal([phase, outcome, rawBody?.length], ["body", "accepted", 9]);
    },
  },
  {
    name: "a response that comes while the program computes is no timeout",
    where: ({ movesWhileComputing }) => movesWhileComputing,
    isAlone: true,
    run: async (bench) => {
      const service = await bench.service();
      await service.fault({ operation: "issues.create", delayMs: SHORT_MS / 2, times: 2 });
      for (const limit of ["timeoutMs", "totalTimeoutMs"] as const) {
        const before = (await service.requests()).length;
        const client = bench.client(service, { timeoutMs: false, [limit]: SHORT_MS, retry: false });
        const call = client.issues.create("project-1", { title: limit, type: "bug" });
        await service.arrived(before + 1);
        // Longer than the limit and what is late.
        for (const until = performance.now() + 2 * SHORT_MS; performance.now() < until; );
        equal((await call).title, limit, "the response");
      }
      equal((await service.requests()).length, 2, "requests");
    },
  },
];
