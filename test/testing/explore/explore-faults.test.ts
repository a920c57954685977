import { type FileHandle, open, readFile } from "node:fs/promises";
import * as timers from "node:timers";
import { expect, test, vi } from "vitest";
import { exploreFaults } from "../../../src/testing/node/explore/explore-faults.ts";
import type { ExploreOptions, ProgramContext } from "../../../src/testing/node/explore/options.ts";
import { ExplorationError } from "../../../src/testing/node/explore/report.ts";
import { standingResources } from "../../../src/testing/node/explore/start.ts";

type Program = (context: ProgramContext<undefined>) => unknown;

async function findings(program: Program, more: object = {}): Promise<string[]> {
  const error = await exploreFaults({ program, ...more }).catch((caught: unknown) => caught);
  if (!(error instanceof ExplorationError)) {
    if (error instanceof Error) throw error;
    return [];
  }
  return [...new Set(error.report.findings.map(({ what }) => what))];
}

const issue = { title: "Broken", type: "bug" } as const;

test("the rest of the process keeps the platform's clock, and everything is put back", async () => {
  const globals = () => [
    globalThis.setTimeout,
    globalThis.Date,
    Reflect.get(performance, "now"),
    process.listeners("unhandledRejection").length,
  ];
  const before = globals();
  const beganAt = Date.now();
  let inside = 0;
  await exploreFaults({
    faults: ["unavailable"],
    program: async ({ client }) => {
      for await (const _ of client.projects.list());
      await new Promise((resolve) => setTimeout(resolve, 3_600_000));
      inside = Date.now();
    },
  });
  expect(inside - beganAt).toBeGreaterThanOrEqual(3_600_000);
  expect(Date.now()).toBeLessThan(inside);
  expect(globals()).toEqual(before);
});

test("timers that are imported from node:timers take no time either", async () => {
  const { setTimeout, setInterval, clearInterval } = timers;
  let [beganAt, endedAt] = [0, 0];
  await exploreFaults({
    faults: ["unavailable"],
    program: async ({ client }) => {
      for await (const _ of client.projects.list());
      beganAt = Date.now();
      await new Promise<void>((resolve) => timers.setTimeout(() => resolve(), 3_600_000));
      const interval = timers.setInterval(() => undefined, 600_000);
      await new Promise<void>((resolve) => timers.setTimeout(() => resolve(), 3_600_000));
      timers.clearInterval(interval);
      endedAt = Date.now();
    },
  });
  expect(endedAt - beganAt).toBeGreaterThan(1.99 * 3_600_000); // clocks are whole milliseconds
  expect([timers.setTimeout, timers.setInterval, timers.clearInterval]).toEqual([
    setTimeout,
    setInterval,
    clearInterval,
  ]);
});

const nothing = (): void => undefined;
test.each([
  [{ program: 1 }, /program/],
  [{ program: nothing, faults: ["lost"] }, /faults/],
  [{ program: nothing, maxRuns: 3 }, /depth/],
])("%o is refused", async (options, words) => {
  // @ts-expect-error: each is wrong by its type, or by what it leaves out.
  await expect(exploreFaults(options)).rejects.toThrow(words);
});

test("an undisturbed program that rejects is told so", async () => {
  await expect(exploreFaults({ program: () => Promise.reject(new Error("no disk")) })).rejects.toThrow(
    /undisturbed program rejects: Error: no disk/,
  );
});

test("a process that stops behind a write writes twice at its next start; a marker kept outside says so", async () => {
  const program: Program = ({ client }) => client.issues.create("web", issue);
  expect(await findings(program, { faults: ["stopped"] })).toEqual(["twice"]);
  const marks = {
    faults: ["stopped"],
    prepare: () => ({ isBegun: false }),
    program: async ({ client, prepared, start }: ProgramContext<{ isBegun: boolean }>) => {
      if (prepared.isBegun && start > 1) throw new Error("it may be there: look");
      prepared.isBegun = true;
      await client.issues.create("web", issue);
    },
  } as const;
  const report = await exploreFaults(marks);
  expect(report).toMatchObject({ runs: 1, told: 1, findings: [] });
  expect(report.message).toMatch(/^Safe, but 1 of 1 runs need a person/);
});

test("a process that stopped does nothing more before its next start, not even in a catch", async () => {
  const marks = {
    faults: ["stopped"],
    prepare: () => ({ isTold: false }),
    program: async ({ client, prepared }: ProgramContext<{ isTold: boolean }>) => {
      if (prepared.isTold) throw new Error("it may be there: look");
      await client.issues.create("web", issue).catch((error: unknown) => {
        prepared.isTold = true;
        throw error;
      });
    },
  } as const;
  await expect(exploreFaults(marks)).rejects.toMatchObject({ report: { findings: [{ what: "twice", runs: 1 }] } });
});

test("a process can stop at two requests, one behind the other", async () => {
  const states: string[][] = [];
  const report = await exploreFaults({
    faults: ["stopped"],
    depth: 2,
    program: async ({ client }) => {
      await client.sessions.get("ses_1");
      await client.sessions.get("ses_1");
    },
    check: ({ starts }) => void states.push(starts.map(({ state }) => state)),
  });
  expect(report).toMatchObject({ told: 0, findings: [] });
  expect(states).toContainEqual(["stopped", "stopped", "resolved"]);
});

test("a rejection that nobody handled counts as said so", async () => {
  const program: Program = ({ client }) => void client.issues.create("web", issue);
  const report = await exploreFaults({ program, faults: ["lost_before"], starts: 1 });
  expect(report).toMatchObject({ told: 1, right: 0 });
});

test("two faults in one run: the seed repeats the sample", async () => {
  const program: Program = async ({ client }) => {
    await client.issues.create("web", issue).catch(() => client.issues.create("web", issue));
  };
  const runsOf = async (): Promise<unknown> =>
    exploreFaults({ program, depth: 2, maxRuns: 5, seed: 3 }).catch(
      (error: unknown) => error instanceof ExplorationError && error.report,
    );
  const report = await runsOf();
  expect(report).toMatchObject({ runs: 12 });
  expect(await runsOf()).toEqual(report);
});

test("a compare that throws is a finding where a fault came before, and ends the exploration where none did", async () => {
  let runs = 0;
  const options: ExploreOptions<{ file?: string }> = {
    prepare: () => ({}),
    program: async ({ client, prepared }) => {
      runs += 1;
      const found = await client.sessions.get("ses_1", { retry: false }).catch(() => undefined);
      if (found !== undefined) prepared.file = "made";
    },
    faults: ["unavailable"],
    compare: ({ prepared: { file } }) => file?.length ?? expect.fail("there is no file"),
  };
  const error = await exploreFaults(options).catch((caught: unknown) => caught);
  expect(error).toMatchObject({
    report: { findings: [{ what: "changed", message: expect.stringContaining("no file") }] },
  });
  expect(runs).toBeGreaterThan(3);
  await expect(exploreFaults({ ...options, program: () => {} })).rejects.toThrow("there is no file");
});

test("a read that is under way before the program hides none of the program's", async () => {
  const reading = readFile(import.meta.filename);
  const [all, standing] = [process.getActiveResourcesInfo(), standingResources()];
  await reading;
  expect(all).toContain("FSReqPromise");
  expect(standing.filter((name) => name.startsWith("FSReq"))).toEqual([]);
});

test("a file that a program has left open is closed with its run", async () => {
  const left: FileHandle[] = [];
  const program: Program = async ({ client }) => {
    left.push(await open(import.meta.filename));
    await client.sessions.get("ses_1");
  };
  const { runs } = await exploreFaults({ program, faults: ["stopped"], compare: () => "" });
  expect(left.length).toBeGreaterThan(runs);
  expect(left.filter(({ fd }) => fd !== -1)).toEqual([]);
});

test("a loop that calls again after each error, without a pause, hangs, and is left behind", async () => {
  let calls = 0;
  const program: Program = async ({ client }) => {
    for (;;) {
      calls += 1;
      try {
        return await client.sessions.get("ses_1", { retry: false });
      } catch {}
    }
  };
  expect(await findings(program, { faults: ["outage"], check: () => undefined })).toEqual(["hangs"]);
  const before = calls;
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toBe(before);
});

test("timers without end, and without a request, hang", async () => {
  const program: Program = async ({ client }) => {
    const found = await client.sessions.get("ses_1", { retry: false }).catch(() => undefined);
    while (found === undefined) await new Promise((resolve) => setTimeout(resolve, 100));
  };
  const error = await exploreFaults({ program, faults: ["unavailable"] }).catch((caught: unknown) => caught);
  expect(String(error)).toContain("hangs: 10000 timers have run since its last request");
});

test("an error in setImmediate is the program's; a loop of setImmediate ends with its start", async () => {
  let turns = 0;
  const program: Program = async ({ client }) => {
    const loop = (): void => {
      turns += 1;
      setImmediate(loop);
    };
    const found = await client.sessions.get("ses_1", { retry: false }).catch(() => undefined);
    if (found !== undefined) return;
    loop();
    setImmediate(() => {
      throw new Error("thrown later");
    });
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  };
  const { told } = await exploreFaults({ program, faults: ["unavailable"], starts: 1, check: () => undefined });
  expect(told).toBeGreaterThan(0);
  const before = turns;
  expect(before).toBeGreaterThan(0);
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(turns).toBe(before);
});

test("a program that computes by setImmediate does not hang, and no time limit of it runs out", async () => {
  let aheadMs = 0;
  const now = vi.spyOn(performance, "now").mockImplementation(() => aheadMs);
  const looks = vi.spyOn(process, "getActiveResourcesInfo");
  const compute = async (): Promise<void> => {
    const before = looks.mock.calls.length;
    while (looks.mock.calls.length < before + 10) await new Promise((resolve) => setImmediate(resolve));
  };
  try {
    const report = await exploreFaults({
      faults: ["unavailable"],
      program: async ({ client }) => {
        await client.sessions.get("ses_1");
        await compute();
        aheadMs += 2_000;
        await compute();
        const limit = AbortSignal.timeout(60_000);
        await compute();
        limit.throwIfAborted();
      },
      compare: () => "",
    });
    expect(report).toMatchObject({ findings: [], told: 0 });
  } finally {
    looks.mockRestore();
    now.mockRestore();
  }
});

test.each<[string, (again: () => void) => unknown]>([
  ["an interval", (again) => setInterval(again, 30_000)],
  [
    "a timer that sets itself",
    (again) => {
      const next = (): unknown => setTimeout(() => [again(), next()], 30_000);
      return next();
    },
  ],
])("a program that leaves %s is told so before any fault", async (_, leave) => {
  let calls = 0;
  const program: Program = async ({ client }) => {
    const poll = (): Promise<unknown> => {
      calls += 1;
      return client.sessions.get("ses_1");
    };
    await poll();
    leave(() => void poll());
  };
  await expect(exploreFaults({ program, check: () => undefined })).rejects.toThrow(
    /^the undisturbed program hangs: its timers go on after it has resolved/,
  );
  expect(calls).toBeLessThan(300);
});

test("a program that leaves hundreds of time limits, each of which runs out once, does not hang", async () => {
  const program: Program = async ({ client }) => {
    for (let seconds = 1; seconds <= 300; seconds += 1) AbortSignal.timeout(seconds * 1_000);
    await client.sessions.get("ses_1");
  };
  expect(await findings(program, { faults: ["unavailable"], compare: () => "" })).toEqual([]);
});

test("an interval that only a failure leaves is a finding", async () => {
  const program: Program = async ({ client }) => {
    const beating = setInterval(() => undefined, 30_000);
    const found = await client.sessions.get("ses_1", { retry: false }).catch(() => undefined);
    if (found !== undefined) clearInterval(beating);
  };
  expect(await findings(program, { faults: ["unavailable"], check: () => undefined })).toEqual(["hangs"]);
});

test("a program that sends nothing is told so, and not that it is safe", async () => {
  await expect(exploreFaults({ program: () => undefined })).rejects.toThrow(
    "sent no request through client or clientOptions, so nothing can fail",
  );
});

test.each<[string, unknown, string]>([
  ["a Map", new Map(), "an instance of Map"],
  ["nothing", undefined, "undefined"],
  ["a member that is a Set", { rows: new Set() }, "an instance of Set"],
  ["not a number", Number.NaN, "NaN"],
])("compare has to return JSON, not %s", async (_, value, words) => {
  const program: Program = ({ client }) => client.sessions.get("ses_1");
  await expect(exploreFaults({ program, compare: () => value })).rejects.toThrow(
    new RegExp(`^the result of compare\\S* must be a JSON value, not ${words}`),
  );
});

test("the order of members is no difference", async () => {
  let runs = 0;
  const program: Program = async ({ client }) => {
    runs += 1;
    await client.sessions.get("ses_1");
    return runs % 2 === 0 ? { a: 1, b: 2 } : { b: 2, a: 1 };
  };
  const { findings: found, message } = await exploreFaults({ program, compare: ({ result }) => result });
  expect(found).toEqual([]);
  expect(message).not.toContain("Not compared");
});

test.each<[string, object, string]>([
  ["faults: an unknown name", { faults: ["lost"] }, 'one or several of .*: "lost" is none'],
  ["faults: none", { faults: [] }, "an array with one or several of"],
  ["check beside compare", { check: () => {}, compare: () => 1 }, "check takes the place of options.compare"],
])("%s", async (_, options, words) => {
  await expect(exploreFaults({ program: () => {}, ...options })).rejects.toThrow(new RegExp(words));
});

test.each(["prepare", "check", "dispose"])("the signal ends an exploration whose %s hangs", async (name) => {
  const ending = new AbortController();
  const hang = (): Promise<never> => {
    setImmediate(() => ending.abort(new Error("enough")));
    return new Promise(() => {});
  };
  const program: Program = ({ client }) => client.sessions.get("ses_1");
  await expect(exploreFaults({ program, signal: ending.signal, [name]: hang })).rejects.toThrow("enough");
});

test("its errors begin in the line that called it", async () => {
  const program: Program = ({ client }) => client.issues.create("web", issue).catch(() => undefined);
  const errors = await Promise.all([
    exploreFaults({ program, faults: ["lost_before"] }).catch((error: unknown) => error),
    exploreFaults({ program: 1 } as never).catch((error: unknown) => error),
  ]);
  for (const error of errors) {
    const [first = ""] = /^ {4}at .*/m.exec(String((error as Error).stack)) ?? []; // each is one
    expect(first).toContain("explore-faults.test.ts");
  }
});

test("an exploration beside fake timers says so, and does not wait for ever; timers that were faked before do not matter", async () => {
  const program: Program = ({ client }) => client.sessions.get("ses_1");
  vi.useFakeTimers();
  try {
    await expect(exploreFaults({ program, compare: () => 1 })).rejects.toThrow("the timers of this process are faked");
  } finally {
    vi.useRealTimers();
  }
  expect(await exploreFaults({ program, compare: () => 1 })).toMatchObject({ findings: [] });
});

test("a program that writes in its cleanup leaves no write under way", async () => {
  let settled = 0;
  let begun = 0;
  const program: Program = async ({ client }) => {
    const write = (): Promise<unknown> => {
      begun += 1;
      return client.issues.create("web", issue).finally(() => {
        settled += 1;
      });
    };
    try {
      await write();
    } catch {
      await write().catch(write);
    }
  };
  await exploreFaults({ program, faults: ["stopped", "outage"], check: () => undefined });
  expect(settled).toBe(begun);
});
