import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ExplorationError, exploreFaults, type ProgramContext } from "project-automation/testing/node";
import { afterAll, expect, test } from "vitest";

/** In the package's own folder, where a program finds the package by its name. */
const tmp = resolve(import.meta.dirname, "../../../tmp");
mkdirSync(tmp, { recursive: true });
const folder = mkdtempSync(join(tmp, "exploration-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Creates "First" again after any error, and drops the errors of "Second". */
const PROGRAM = `export async function program({ client }) {
  const first = { title: "First", type: "bug" };
  await client.issues.create("web", first).catch(() => client.issues.create("web", first));
  await client.issues.create("web", { title: "Second", type: "bug" }).catch(() => undefined);
}
`;

function runScript(script: string): string {
  writeFileSync(join(folder, "script.mjs"), script);
  const { stdout, stderr, status } = spawnSync(process.execPath, ["script.mjs"], {
    cwd: folder,
    encoding: "utf8",
    timeout: 20_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

/** The issues after each start. The last start of each begins without a fault. */
test.each([
  [
    ["lost_before", "lost_after"],
    [
      ["twice", ["First First Second", "First First Second First Second"]],
      ["lost", ["First", "First First Second"]],
    ],
  ],
  [["outage"], [["lost", ["First", "First First Second"]]]],
] as const)(
  "the scripts of findings by %o show them, by the package alone",
  { timeout: 120_000 },
  async (faults, told) => {
    const path = join(folder, "program.js");
    writeFileSync(path, PROGRAM);
    const { program } = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as {
      program: (context: ProgramContext<undefined>) => unknown;
    };
    const error = await exploreFaults({ program, faults }).catch((caught: unknown) => caught);
    if (!(error instanceof ExplorationError)) throw error;

    const shown = error.report.findings.map(({ what, message, script }) => {
      const output = runScript(script);
      const ends = [...message.matchAll(/start (\d) (\w+)/g)].map(([, start, end]) => `${start} ${end}`);
      expect(output.match(/^\d \w+/gm)).toEqual(ends);
      return [
        what,
        output
          .split(/^\d \w+.*\n/m)
          .slice(1)
          .map(titlesIn),
      ];
    });
    expect(shown).toEqual(told);
  },
);

test("the script of a process that stopped starts the sessions anew, and ends by itself", {
  timeout: 60_000,
}, async () => {
  const code = `export async function program({ client }) {
  const { state } = await client.sessions.get("ses_1");
  await client.issues.create("web", { title: state, type: "bug" });
}
`;
  writeFileSync(join(folder, "program.js"), code);
  const { program } = (await import(
    /* @vite-ignore */ `${pathToFileURL(join(folder, "program.js")).href}?sessions`
  )) as { program: (context: ProgramContext<undefined>) => unknown };
  const error = await exploreFaults({ program, faults: ["stopped"] }).catch((caught: unknown) => caught);
  if (!(error instanceof ExplorationError)) throw error;

  const [{ what, script } = { what: "", script: "" }] = error.report.findings;
  const output = runScript(script);
  expect(what).toBe("twice");
  expect(output.match(/^\d \w+/gm)).toEqual(["1 stopped", "2 resolved", "3 resolved"]);
  expect(titlesIn(output)).toBe("queued queued queued queued queued queued");
});

const titlesIn = (output: string): string =>
  [...output.matchAll(/title: '(\w+)'/g)].map(([, title]) => title).join(" ");
