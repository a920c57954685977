/** Models of services on a simulated clock: our client beside one that only obeys `Retry-After`. */

import { OURS } from "../clients.ts";
import { Part } from "../support/process.ts";
import { entrants, type Found, type Measure } from "../support/results.ts";
import { MODELS, type Model, type ModelEndings, type ModelTask } from "./simulated.ts";

const OBEYING = "obeys only";

export const models: Measure = {
  title: "Calls on a simulated clock: seconds, beside the ideal; a 429 without Retry-After, and with it",
  guards: [
    { client: "10 a second", figure: OURS, atMost: 2 * 19.9 },
    { client: "10 a second, Retry-After", figure: OURS, atMost: 2 * 19.9 },
    { client: "1 in 5 s", figure: OURS, atMost: 2 * 995 },
    { client: "1 in 5 s, Retry-After", figure: OURS, atMost: 2 * 995 },
    { client: "one in thirteen is refused", figure: OURS, atMost: 300 },
  ],
  async run(bench) {
    const figures: Record<string, Found> = {};
    for (const model of Object.keys(MODELS) as Model[]) {
      for (const saysWhen of [false, true]) {
        const row: Record<string, number> = {};
        for (const name of [...entrants([OURS], bench), OBEYING]) {
          const [, folder = bench.packages[0]] = name.split(" @ ");
          const calls = model === "one in thirteen is refused" ? 1_000 : 200;
          const found = await measure({ calls, model, saysWhen, folder: name === OBEYING ? undefined : folder });
          row["ideal"] = found.ideal;
          row[name] = found.seconds;
          row[`${name}, refused`] = found.requests - found.succeeded;
          if (found.succeeded < calls) row[`${name}, failed`] = calls - found.succeeded;
        }
        figures[saysWhen ? `${model}, Retry-After` : model] = row;
      }
    }
    return figures;
  },
};

async function measure(task: ModelTask): Promise<ModelEndings> {
  const part = new Part(new URL("simulated.ts", import.meta.url), task);
  try {
    return await part.next<ModelEndings>();
  } finally {
    part.stop();
  }
}
