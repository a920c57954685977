/** What a call costs in process: `fetch` is a function that gives a ready `Response`, so all the rest is the client. */

import assert from "node:assert/strict";
import { pairwise, spreadOf } from "../../support/statistics.ts";
import { type Bench, entrants, round, type Section } from "../bench.ts";
import { ANSWER_HEADERS, type Calls, issueBody, ROUND, sessionBody, sessionId, TOKEN, titleOf } from "../calls.ts";
import { BARE, connect, contenders, LISTENED, OURS } from "../contenders.ts";
import { race } from "../race.ts";
import type { Lap, LapTask } from "../worker.ts";

export const name = "per-call";

const WORKS = { get: "GET a session", post: "POST an issue" } as const;
const MOST_OVER_FETCH_US = 16;

export async function run(bench: Bench): Promise<Section[]> {
  const names = entrants(
    contenders.map((contender) => contender.name),
    bench,
    [BARE],
  );
  const sections: Section[] = [];
  for (const [work, title] of Object.entries(WORKS)) {
    bench.progress(`per call, ${title}`);
    const laps = await race({
      contenders: names,
      task: { measure: name, work, origin: "http://127.0.0.1", package: bench.package },
      calls: bench.quick ? 1_000 : 2_000,
      warmUp: bench.quick ? 6_000 : 10_000,
      rounds: bench.quick ? 9 : 30,
      heats: bench.quick ? 1 : 2,
    });
    sections.push(sectionOf(work, title, laps));
  }
  return sections;
}

function sectionOf(work: string, title: string, laps: ReadonlyMap<string, readonly Lap[]>): Section {
  const of = (contender: string, figure: keyof Lap): number[] => (laps.get(contender) ?? []).map((lap) => lap[figure]);
  const bare = of(BARE, "wallUs");
  const figures = Object.fromEntries(
    [...laps.keys()].map((contender) => {
      const wall = of(contender, "wallUs");
      return [
        contender,
        {
          wallUs: spreadOf(wall),
          cpuUs: spreadOf(of(contender, "cpuUs")),
          overFetchUs: pairwise(wall, bare, (value, floor) => value - floor),
          timesFetch: pairwise(wall, bare, (value, floor) => value / floor),
        },
      ];
    }),
  );
  return {
    name: `${name}-${work}`,
    title: `Per call, in process: ${title}`,
    note: "`fetch` gives a ready `Response`, made anew for each call. Times in µs: medians, and quartiles in brackets.",
    heading: ["", "wall", "over fetch", "× fetch", "CPU"],
    rows: Object.entries(figures).map(([contender, { wallUs, cpuUs, overFetchUs, timesFetch }]) => [
      contender,
      round(wallUs.median),
      `${round(overFetchUs.median)} (${round(overFetchUs.low)}–${round(overFetchUs.high)})`,
      round(timesFetch.median),
      round(cpuUs.median),
    ]),
    figures,
    targets: [OURS, LISTENED]
      .filter((contender) => laps.has(contender))
      .map((contender) => ({
        what: `${title}, ${contender}: µs over fetch`,
        value: figures[contender]?.overFetchUs.median ?? Number.NaN,
        atMost: MOST_OVER_FETCH_US,
      })),
  };
}

export async function prepare(task: LapTask): Promise<(calls: number) => Promise<void>> {
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
  const perform = task.work === "get" ? getSessions : createIssues;
  const lap = async (count: number): Promise<void> => {
    answered = 0;
    await perform(calls, count);
    assert.equal(answered, count, `${task.contender}: as many requests as calls`);
  };

  await lap(ROUND);
  for (const [at, request] of seen.entries()) await checkRequest(request, task.work, at);
  inspects = false;
  return lap;
}

async function getSessions(calls: Calls, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const { id, state } = await calls.getSession(sessionId(at));
    if (id !== sessionId(at) || state !== "running")
      throw new Error(`call ${at} resolved with session ${id}, ${state}`);
  }
}

async function createIssues(calls: Calls, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const { number, title } = await calls.createIssue(titleOf(at));
    if (number !== (at % ROUND) + 1 || title !== titleOf(at))
      throw new Error(`call ${at} resolved with issue ${number}, ${title}`);
  }
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
