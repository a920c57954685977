/**
 * The packed package on every runtime at hand, against the emulator's server in a process of its own. One suite for all:
 * `conformance/`. What is not at hand is said and skipped; if all tests are asked for it fails.
 */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NEEDS_ALL } from "../../support/all-tests.ts";
import { type Packed, pack } from "../../support/packed.ts";
import { findRuntimes, type Runtime, versionOf } from "./binaries.ts";
import { runBrowser } from "./browsers.ts";
import { buildPrograms } from "./build.ts";
import type { Traits } from "./conformance/bench.ts";
import { casesFor } from "./conformance/index.ts";
import { type Format, type Ran, runProcess } from "./processes.ts";
import { ServiceProcess } from "./service-process.ts";
import { TRAITS } from "./traits.ts";

const { here, missing } = findRuntimes();
if (here.length > 0) console.log(`Tested on ${here.map(versionOf).join(", ")}.`);
for (const { name, why } of missing) console.log(`Not tested on ${name}: ${why}.`);

if (NEEDS_ALL) {
  test("every runtime is at hand", () => {
    expect(missing.filter(({ isDue }) => isDue)).toEqual([]);
  });
}

/** Most of the time is waiting, but starting is work. */
const AT_ONCE = 3;

interface Place {
  readonly runtime: Runtime;
  /** Of a browser: where in it. */
  readonly where: Format | "page" | "worker";
  readonly run: string;
  readonly traits: Traits;
}

const places: readonly Place[] = here.flatMap((runtime) => {
  const traits = TRAITS[runtime.kind];
  const wheres = traits.isBrowser ? (["page", "worker"] as const) : (["ESM", "CommonJS"] as const);
  return wheres.map((where) => ({
    runtime,
    where,
    traits,
    run: `${runtime.name}-${where}`.replaceAll(/[^\w-]/g, ""),
  }));
});

interface Ground {
  readonly packed: Packed;
  readonly service: ServiceProcess;
}

/** Runs that are started together: a browser's page and worker, or one process. */
interface Job {
  readonly runtime: Runtime;
  readonly places: readonly Place[];
}

const jobs: readonly Job[] = here.flatMap((runtime): Job[] => {
  const own = places.filter((place) => place.runtime === runtime);
  return own[0]?.traits.isBrowser ? [{ runtime, places: own }] : own.map((place) => ({ runtime, places: [place] }));
});

let ground: Ground | undefined;
const rans = new Map(places.map(({ run }) => [run, deferred<Ran>()]));

beforeAll(async () => {
  if (jobs.length === 0) return;
  const packed = pack();
  await buildPrograms(packed.folder);
  const service = await ServiceProcess.start(packed);
  ground = { packed, service };
  const left = jobs.values();
  for (let worker = 0; worker < AT_ONCE; worker += 1) void work(left, ground);
});

afterAll(async () => {
  await Promise.all([...rans.values()].map(({ promise }) => promise.catch(() => undefined)));
  await ground?.service.stop();
  if (ground !== undefined) rmSync(ground.packed.folder, { recursive: true, force: true });
});

/** Takes from what is left, one job after the other, in the order of the tests. */
async function work(left: Iterable<Job>, given: Ground): Promise<void> {
  for (const { runtime, places: together } of left) {
    const all = start({ runtime, places: together }, given);
    together.forEach(({ run }, index) => {
      all.then(
        (found) => rans.get(run)?.resolve(found[index] ?? NOTHING),
        (error: unknown) => rans.get(run)?.resolve({ ...NOTHING, ended: `not at all: ${String(error)}` }),
      );
    });
    await all.catch(() => undefined);
  }
}

const NOTHING: Ran = { report: undefined, printed: "", ended: "without a word" };

async function start({ runtime, places: together }: Job, { packed, service }: Ground): Promise<readonly Ran[]> {
  const settings = together.map(({ run, traits }) => ({ origin: service.origin, run, traits }));
  const reports = settings.map(({ run }) => service.report(run));
  if (together[0]?.traits.isBrowser) return await runBrowser({ runtime, settings, reports });
  const [first, report] = [settings[0], reports[0]];
  const format = together[0]?.where;
  if (first === undefined || report === undefined || (format !== "ESM" && format !== "CommonJS")) return [];
  return [await runProcess({ runtime, format, settings: first, packed, report })];
}

function deferred<Value>(): { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe.each(places)("on $runtime.name, $where", ({ run, traits, runtime, where }) => {
  let ran: Ran = NOTHING;
  beforeAll(async () => {
    ran = (await rans.get(run)?.promise) ?? NOTHING;
  });

  test.each(casesFor(traits))("$name", ({ name }) => {
    if (ran.report === undefined) throw new Error(`there is no report; it ended ${ran.ended}\n${ran.printed}`);
    const result = ran.report.results.find((one) => one.name === name);
    if (result === undefined) throw new Error(`it was not run: ${ran.report.complaints.join("\n")}`);
    if (result.failure !== undefined) throw new Error(result.failure);
  });

  test("nothing is printed or complained of, and it ends by itself", () => {
    expect(ran.printed).toBe("");
    expect(ran.ended).toBe("by itself");
    expect(ran.report?.complaints).toEqual([]);
  });

  if (runtime.kind === "chromium" && where === "page") {
    test("offline, a call rejects as a lost connection", () => {
      expect(ran.offline).toEqual({ kind: "connection", attempts: 3 });
    });
  }
});
