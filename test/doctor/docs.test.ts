import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DOCTOR, doctorIn } from "../../src/doctor/node/command.ts";
import { sendByNode } from "../../src/doctor/node/send.ts";
import { QUESTIONS } from "../../src/doctor/questions.ts";
import { startEmulator } from "../../src/testing/node.ts";
import { virtualClock } from "./examine.ts";

const guide = readFileSync(join(import.meta.dirname, "../../docs/doctor.md"), "utf8");
const ids = new Set(QUESTIONS.map(({ id }) => id));

describe("the guide", () => {
  test("begins with what the doctor prints", async () => {
    const clock = virtualClock();
    const refusals = { unknownSession: { status: 410, code: "gone" } };
    await using service = await startEmulator({ now: clock.now, conventions: { endOfList: "missing", refusals } });
    const doctor = doctorIn({ send: (request) => sendByNode(request), sleep: clock.sleep, wallClock: clock.now });
    let printed = "";
    await doctor.run(["--write"], {
      out: (text) => {
        printed += text;
      },
      err: expect.unreachable,
      environment: { PROJECT_AUTOMATION_BASE_URL: service.baseUrl, PROJECT_AUTOMATION_TOKEN: service.token },
      columns: 110,
      colour: { out: false, err: false },
      runProgram: async () => 0,
      openAddress: async () => false,
      signal: new AbortController().signal,
    });
    const [, sample = ""] = /doctor --write\n(.*?)…\n {2}(?=the service refused)/s.exec(guide) ?? [];
    expect(sample).toContain("CONTRADICTS");
    const shown = printed.replace(service.baseUrl, "https://automation.example.com/api/v1");
    expect(shown.startsWith(sample)).toBe(true);
    expect(guide).toContain(`\n${shown.trimEnd().split("\n").at(-1)}\n`);
  });

  test("names no question that does not exist", () => {
    const [, lookUp = ""] = guide.split("## When something looks wrong");
    const cells = lookUp.split("\n").map((row) => row.split("|")[2] ?? "");
    const named = cells.flatMap((cell) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, id]) => id));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((id) => !ids.has(id ?? ""))).toEqual([]);
  });

  test("shows flags that the program has", () => {
    const flags = [...guide.matchAll(/(?<=doctor .*|`)(--[a-z-]+)/g)].map(([, flag = ""]) => flag);
    expect(flags.length).toBeGreaterThan(5);
    for (const flag of flags.filter((one) => one !== "--seed")) expect(DOCTOR.help).toContain(`  ${flag} `);
  });
});
