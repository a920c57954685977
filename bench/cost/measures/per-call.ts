/** What a call costs in process: `fetch` is a function that gives a ready `Response`, so all the rest is the client. */

import assert from "node:assert/strict";
import { type Bench, entrants, round, type Section, spread } from "../bench.ts";
import { ANSWER_HEADERS, issueBody, ROUND, sessionBody, sessionId, TOKEN, titleOf } from "../calls.ts";
import { compare, recorded } from "../comparison.ts";
import { BARE, CALLERS, connect, KY, LISTENED, OURS } from "../contenders.ts";
import { race } from "../race.ts";
import { createIssue, getSession } from "../work.ts";
import type { Lap, LapTask, RunLap } from "../worker.ts";

export const name = "per-call";

const WORKS = { get: "GET a session", post: "POST an issue" } as const;
/** The platform still compiles the code of some clients after 10 000. */
const WARM_UP_CALLS = 30_000;
/** What a call adds to `fetch`, over what ky with its defaults adds. */
const MOST_TIMES_KY = 1;

export async function run(bench: Bench): Promise<Section[]> {
  const names = entrants(CALLERS, bench, [BARE]);
  const sections: Section[] = [];
  for (const [work, title] of Object.entries(WORKS)) {
    bench.progress(`per call, ${title}`);
    const laps = await race({
      contenders: names,
      task: { measure: name, work, origin: "http://127.0.0.1", package: bench.package },
      calls: bench.quick ? 2_000 : 5_000,
      warmUp: WARM_UP_CALLS,
      rounds: bench.quick ? 7 : 16,
      heats: bench.quick ? 1 : 2,
    });
    sections.push(sectionOf(work, title, laps));
  }
  return sections;
}

function sectionOf(work: string, title: string, laps: ReadonlyMap<string, readonly Lap[]>): Section {
  const figures = compare(laps, BARE);
  return {
    name: `${name}-${work}`,
    title: `Per call, in process: ${title}`,
    note: "`fetch` gives a ready `Response`, made anew for each call. Nothing is waited for, so time is that of the program's thread, which other programs on the machine do not add to; CPU has all threads. µs, medians; quartiles in brackets.",
    heading: ["", "time", "over fetch", "× fetch", "CPU", "wall"],
    rows: [...figures].map(([contender, { wallUs, cpuUs, threadUs, overUs, timesThread }]) => [
      contender,
      round(threadUs.median),
      spread(overUs),
      round(timesThread.median),
      round(cpuUs.median),
      round(wallUs.median),
    ]),
    figures: recorded(figures),
    targets: [OURS, LISTENED].flatMap((contender) => {
      const ours = figures.get(contender)?.overUs.median;
      const ky = figures.get(KY)?.overUs.median;
      return ours === undefined || ky === undefined
        ? []
        : [{ what: `${title}, ${contender}: added to fetch, × what ky adds`, value: ours / ky, atMost: MOST_TIMES_KY }];
    }),
  };
}

export async function prepare(task: LapTask): Promise<RunLap> {
  const bodies = Array.from({ length: ROUND }, (_, at) =>
    task.work === "get" ? sessionBody(sessionId(at)) : issueBody(at),
  );
  const seen: Request[] = [];
  let inspects = true;
  let answered = 0;
  const ready: typeof fetch = (input, init) => {
    if (inspects) seen.push(new Request(input, init));
    const body = bodies[answered % ROUND];
    answered += 1;
    return Promise.resolve(new Response(body, { status: 200, headers: ANSWER_HEADERS }));
  };
  const calls = await connect(task.contender, {
    origin: task.origin,
    token: TOKEN,
    fetch: ready,
    package: task.package,
  });
  const perform = task.work === "get" ? getSession : createIssue;
  const lap: RunLap = async (count) => {
    answered = 0;
    for (let at = 0; at < count; at += 1) await perform(calls, at);
    assert.equal(answered, count, `${task.contender}: as many requests as calls`);
    return {};
  };

  await lap(ROUND);
  for (const [at, request] of seen.entries()) await checkRequest(request, task.work, at);
  inspects = false;
  return lap;
}

/** Whether a client sent what its call says. */
async function checkRequest(request: Request, work: string, at: number): Promise<void> {
  const [scheme, token] = request.headers.get("authorization")?.split(" ") ?? [];
  assert.match(scheme ?? "", /^(bearer|token)$/i); // GitHub's is "token"
  assert.equal(token, TOKEN);
  if (work === "get") {
    assert.equal(request.method, "GET");
    assert.ok(new URL(request.url).pathname.endsWith(`/${sessionId(at)}`), request.url);
  } else {
    assert.equal(request.method, "POST");
    const body = await request.text();
    const form = new URLSearchParams(body); // one of the clients sends forms
    assert.equal(body.startsWith("{") ? JSON.parse(body).title : form.get("name"), titleOf(at));
  }
}
