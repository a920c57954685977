/** One client and one service in a process whose clock is simulated: an hour takes a moment. */

import { setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { moduleOf } from "../support/manifest.ts";
import { say, taskOf } from "../support/process.ts";

/** A service that refuses what is too much. It says when to come again, or it does not. */
export interface ModelTask {
  readonly calls: number;
  readonly model: Model;
  readonly saysWhen: boolean;
  /** The checkout of our package; `undefined` for a client that only obeys `Retry-After`. */
  readonly folder: string | undefined;
}

/** The time of the last call, beside that of one who knows when the service accepts. */
export interface ModelEndings {
  readonly succeeded: number;
  readonly requests: number;
  readonly seconds: number;
  readonly ideal: number;
}

/** The time that a request has to wait for at this moment, in milliseconds: 0 if it is accepted. */
type Service = (time: number) => number;

const TRIP_MS = 20;
/** Calls of the client that only obeys: it has so many loops. */
const WIDE = 10;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 32_000;

/** Random numbers in [0, 1), the same in each run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

Math.random = randomFrom(1_234);

let time = 0;
const timers = new Map<number, { readonly at: number; readonly action: () => void }>();
let timersSet = 0;

function setTimer(action: () => void, ms = 0): number {
  timersSet += 1;
  timers.set(timersSet, { at: time + Math.max(1, ms), action });
  return timersSet;
}

/** A bucket that leaks: requests that are nearer to each other are refused. */
function leaky(intervalMs: number): Service {
  let takenAt = Number.NEGATIVE_INFINITY;
  return (at) => {
    if (at - takenAt < intervalMs) return takenAt + intervalMs - at;
    takenAt = at;
    return 0;
  };
}

/** A bucket of 50 that 25 a second fill. A stranger comes at random moments, so often in a second, and takes a part of it. */
function shared(visits: number, part: () => number): Service {
  const random = randomFrom(7);
  const [perMs, most] = [50 / 2_000, 50];
  let [level, filledAt, visitAt] = [most, 0, 0];
  const fill = (at: number): void => {
    level = Math.min(most, level + perMs * (at - filledAt));
    filledAt = at;
  };
  return (at) => {
    while (visitAt <= at) {
      fill(visitAt);
      level *= 1 - part();
      visitAt += (-1_000 * Math.log(1 - random())) / visits;
    }
    fill(at);
    if (level < 1) return (1 - level) / perMs;
    level -= 1;
    return 0;
  };
}

/** One in thirteen is refused, whenever it comes. */
function thirteenth(): Service {
  let requests = 0;
  return () => (++requests % 13 === 0 ? 0.001 : 0);
}

export const MODELS = {
  "50 per 2 s, a stranger takes some": () => shared(2, randomFrom(3)),
  "50 per 2 s, a stranger takes all, 2 a second": () => shared(2, () => 1),
  "50 per 2 s, a stranger takes all, 6 a second": () => shared(6, () => 1),
  "50 per 2 s, a stranger takes all, 12 a second": () => shared(12, () => 1),
  "10 a second": () => leaky(100),
  "1 a second": () => leaky(1_000),
  "1 in 2 s": () => leaky(2_000),
  "1 in 5 s": () => leaky(5_000),
  "one in thirteen is refused": thirteenth,
} satisfies Record<string, () => Service>;

export type Model = keyof typeof MODELS;

async function measure({ calls, model, saysWhen, folder }: ModelTask): Promise<ModelEndings> {
  Object.assign(globalThis, { setTimeout: setTimer, clearTimeout: (timer: number) => timers.delete(timer) });
  performance.now = () => time;
  Date.now = () => Math.floor(time);
  const service = MODELS[model]();
  const idealMs = idealOf(MODELS[model](), calls);
  let requests = 0;
  const fetch = (): Promise<Response> =>
    new Promise((resolve) => {
      requests += 1;
      const waitMs = service(time);
      const seconds = waitMs < 1 ? 0 : Math.ceil(waitMs / 1_000);
      const headers = { "content-type": "application/json", ...(saysWhen && { "retry-after": String(seconds) }) };
      const response =
        waitMs > 0
          ? new Response("{}", { status: 429, headers })
          : new Response("{}", { headers: { "content-type": "application/json" } });
      setTimer(() => resolve(response), TRIP_MS);
    });
  const work = folder === undefined ? obeying(fetch) : await ours(folder, fetch);
  let [ended, succeeded, lastAt] = [0, 0, 0];
  const begun = work(calls, (isGood) => {
    ended += 1;
    if (isGood) succeeded += 1;
    lastAt = time;
  });
  while (ended < calls) {
    for (let turns = 0; turns < 3; turns += 1) await turn();
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of timers.values()) next = Math.min(next, at);
    if (next === Number.POSITIVE_INFINITY) break;
    time = next;
    for (const [timer, { at, action }] of [...timers]) {
      if (at > time || !timers.delete(timer)) continue;
      action();
    }
  }
  await begun;
  const round = (ms: number): number => Number((ms / 1_000).toFixed(1));
  return { succeeded, requests, seconds: round(lastAt), ideal: round(idealMs) };
}

/** The time of the last of so many, where each is asked for in every millisecond until it is accepted. */
function idealOf(service: Service, calls: number): number {
  let at = 0;
  for (let accepted = 0; accepted < calls; accepted += service(at) === 0 ? 1 : 0) at += 1;
  return at;
}

type Work = (calls: number, end: (isGood: boolean) => void) => Promise<unknown>;

/** Each call waits for as long as the service says, or doubles its own wait, until it gets through. */
function obeying(fetch: () => Promise<Response>): Work {
  return (calls, end) => {
    let begun = 0;
    const loop = async (): Promise<void> => {
      while (begun < calls) {
        begun += 1;
        for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(2 * backoffMs, LONGEST_BACKOFF_MS)) {
          const response = await fetch();
          if (response.ok) break;
          const asked = response.headers.get("retry-after");
          const waitMs = asked === null ? backoffMs * (0.5 + Math.random() / 2) : 1_000 * Number(asked);
          await new Promise<void>((resolve) => void setTimer(resolve, waitMs));
        }
        end(true);
      }
    };
    return Promise.all(Array.from({ length: WIDE }, loop));
  };
}

async function ours(folder: string, fetch: () => Promise<Response>): Promise<Work> {
  const url = pathToFileURL(moduleOf(folder, ".")).href;
  const { Client } = (await import(url)) as typeof import("../../dist/index.js"); // the entry point has this type
  const client = new Client({
    baseUrl: "http://127.0.0.1/api/v1",
    token: "pat_key_secret",
    fetch,
    validation: "lenient",
    logLevel: "off",
  });
  return (calls, end) =>
    Promise.all(
      Array.from({ length: calls }, (_, at) =>
        client.sessions.get(String(at)).then(
          () => end(true),
          () => end(false),
        ),
      ),
    );
}

if (process.argv[1] === import.meta.filename) say(await measure(taskOf<ModelTask>()));
