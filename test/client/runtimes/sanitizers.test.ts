/** Every case of the suite under the sanitizers of `deno test`: no call leaves a port, a timer or a response open. */
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROGRAM_LIMIT_MS } from "../../support/limits.ts";
import { type Packed, pack } from "../../support/packed.ts";
import { findRuntimes } from "./binaries.ts";
import { buildPrograms } from "./build.ts";
import { argumentsFor } from "./processes.ts";
import { ServiceProcess } from "./service-process.ts";
import { TRAITS } from "./traits.ts";

const denos = findRuntimes().here.filter(({ kind }) => kind === "deno");

describe.skipIf(denos.length === 0)("the sanitizers of deno test", () => {
  let packed: Packed;
  let service: ServiceProcess;
  beforeAll(async () => {
    packed = pack();
    await buildPrograms(packed.folder);
    service = await ServiceProcess.start(packed);
  });
  afterAll(async () => {
    await service.stop();
    rmSync(packed.folder, { recursive: true, force: true });
  });

  test.each(denos)("find nothing that a call leaves open", async (deno) => {
    const settings = JSON.stringify({ origin: service.origin, run: deno.name, traits: TRAITS.deno });
    const [, ...args] = argumentsFor(deno, ["./sanitized.mjs", "--", settings]);
    const env = { PATH: process.env["PATH"], HOME: packed.folder, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
    const printed = await new Promise<string>((resolve) => {
      const options = { cwd: packed.folder, env, timeout: PROGRAM_LIMIT_MS };
      execFile(deno.executable, ["test", ...args], options, (_, out, err) => resolve(out + err));
    });
    expect(printed).toMatch(/^ok \| \d{2,} passed \| 0 failed/m);
  });
});
