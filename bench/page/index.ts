/** The page of the emulator: what a request costs with a page open, and with none, beside an emulator that has no page. */

import { Agent, get, request } from "node:http";
import { Part } from "../support/process.ts";
import type { Measure } from "../support/results.ts";
import { spreadOf } from "../support/results.ts";
import type { EmulatorTask, Listening } from "./service.ts";

const WITHOUT = "no page";
const VARIANTS = [WITHOUT, "a page, not open", "a page, open"] as const;
const FIGURE = "× no page";
const BODY = JSON.stringify({ title: "Login page is blank", type: "bug" });
const AT_ONCE = 4;

export const page: Measure = {
  title: "The emulator's CPU time for a request, with its page and without",
  guards: [
    { client: "a page, not open", figure: FIGURE, atMost: 1.2 },
    { client: "a page, open", figure: FIGURE, atMost: 1.5 },
  ],
  async run({ packages, quick }) {
    const [folder = ""] = packages;
    const [count, laps] = quick ? [2_000, 3] : [5_000, 15];
    const entrants = await Promise.all(VARIANTS.map((variant) => start(folder, variant)));
    try {
      for (const entrant of entrants) await entrant.lap(count); // the platform compiles
      const rounds: number[][] = [];
      for (let round = 0; round < laps; round += 1) {
        const lap = Array<number>(entrants.length).fill(0);
        for (let at = 0; at < entrants.length; at += 1) {
          const turn = (round + at) % entrants.length;
          lap[turn] = (await entrants[turn]?.lap(count)) ?? Number.NaN;
        }
        rounds.push(lap);
      }
      return Object.fromEntries(
        VARIANTS.map((variant, at) => [
          variant,
          {
            µs: spreadOf(rounds.map((lap) => lap[at] ?? Number.NaN)),
            [FIGURE]: spreadOf(rounds.map((lap) => (lap[at] ?? Number.NaN) / (lap[0] ?? Number.NaN))),
          },
        ]),
      );
    } finally {
      for (const { stop } of entrants) stop();
    }
  },
};

interface Entrant {
  /** The CPU time of the emulator for one of so many requests, in µs. */
  lap(count: number): Promise<number>;
  stop(): void;
}

async function start(folder: string, variant: (typeof VARIANTS)[number]): Promise<Entrant> {
  const task: EmulatorTask = { folder, page: variant !== WITHOUT };
  const emulator = new Part(new URL("service.ts", import.meta.url), task);
  const listening = await emulator.next<Listening>();
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let sent = 0;
  const reader = variant === "a page, open" ? await read(listening) : undefined;
  return {
    async lap(count) {
      const isOver = sent + count;
      emulator.tell("begin");
      await emulator.next();
      const one = async (): Promise<void> => {
        while (sent < isOver) {
          sent += 1;
          await send(listening, agent);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
      await reader?.has(sent);
      emulator.tell("end");
      return (await emulator.next<{ µs: number }>()).µs / count;
    },
    stop: () => {
      agent.destroy();
      emulator.stop();
    },
  };
}

/** Creates an issue. */
function send({ baseUrl, token }: Listening, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    request(`${baseUrl}/projects/web/issues`, { method: "POST", agent, headers }, (response) => {
      if (response.statusCode !== 201) reject(new Error(`answered ${response.statusCode}`));
      response.resume().once("end", resolve);
    })
      .once("error", reject)
      .end(BODY);
  });
}

/** Reads the stream as a page does. Each response is in it. */
function read({ page: address = "" }: Listening): Promise<{ has(count: number): Promise<void> }> {
  return new Promise((resolve, reject) => {
    get(new URL("/_emulator/events", address), (response) => {
      let seen = 0;
      let wake = (): void => undefined;
      response.setEncoding("latin1").on("data", (text: string) => {
        seen += text.split("event: response\n").length - 1;
        wake();
      });
      const has = async (count: number): Promise<void> => {
        // An event that two chunks share is not counted.
        while (seen < count * 0.99) {
          await new Promise<void>((told) => {
            wake = told;
          });
        }
      };
      resolve({ has });
    }).once("error", reject);
  });
}
