/** A dry run of the publication: what `.github/workflows/release.yml` does, against a registry on loopback. */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../../src/client/version.ts";
import { runsTools, toolFile } from "../../support/consumer-tools.ts";
import { freePort } from "../../support/free-port.ts";
import { type Packed, pack } from "../../support/packed.ts";
import { WatchedProcess } from "../../support/watched-process.ts";

const repository = resolve(import.meta.dirname, "../../..");
const workflow = readFileSync(join(repository, ".github/workflows/release.yml"), "utf8");
const steps = [...workflow.matchAll(/^ {6}- (?:name: .*\n {8})?run: (.*)$/gm)].map(([, command]) => command);

describe.runIf(runsTools)("a registry on loopback", () => {
  let packed: Packed;
  let folder: string;
  let registry: WatchedProcess;
  let environment: NodeJS.ProcessEnv;
  beforeAll(async () => {
    packed = pack();
    folder = mkdtempSync(join(tmpdir(), "publication-"));
    const port = await freePort();
    const address = `http://127.0.0.1:${port}/`;
    // It knows no other registry, and takes packages from anyone.
    const config = {
      storage: join(folder, "storage"),
      uplinks: {},
      packages: { "**": { access: "$all", publish: "$all" } },
      log: { type: "stdout", format: "json", level: "http" },
    };
    writeFileSync(join(folder, "config.yaml"), JSON.stringify(config));
    writeFileSync(join(folder, "npmrc"), `registry=${address}\n//127.0.0.1:${port}/:_authToken=any\n`);
    environment = {
      ...withoutNpm(process.env),
      npm_config_userconfig: join(folder, "npmrc"),
      npm_config_cache: join(folder, "cache"),
      npm_config_update_notifier: "false",
    };
    const bin = toolFile("verdaccio/bin/verdaccio");
    const args = ["--config", join(folder, "config.yaml"), "--listen", `127.0.0.1:${port}`];
    registry = new WatchedProcess([process.execPath, bin, ...args], { cwd: folder });
    await registry.says(/http address/);
  });
  afterAll(async () => {
    registry.kill("SIGTERM");
    await registry.ended;
    for (const one of [packed.folder, folder]) rmSync(one, { recursive: true, force: true });
  });

  const npm = async (cwd: string, ...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)("npm", args, { cwd, env: environment });
    return stdout;
  };
  const emptyFolder = (name: string): string => {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  };

  test("takes the package once; npx of its name runs the bin, and an import by name has the version", async () => {
    // A provenance statement needs the identity of the workflow.
    const [command = "", ...flags] = (steps.find((step) => step?.startsWith("npm publish")) ?? "").split(" ").slice(1);
    expect([command, flags]).toEqual(["publish", ["--provenance"]]);
    await npm(folder, command, packed.tarball, "--no-provenance");
    expect(JSON.parse(await npm(folder, "view", "project-automation", "--json"))).toMatchObject({
      version: VERSION,
      "dist-tags": { latest: VERSION },
      bin: { "project-automation": "dist/bin.js" },
    });
    await expect(npm(folder, command, packed.tarball, "--no-provenance")).rejects.toThrow(
      /cannot publish over|EPUBLISHCONFLICT|409/i,
    );

    const asked = await npm(emptyFolder("npx"), "exec", "--yes", "--", "project-automation", "--version");
    expect(asked.trim()).toBe(VERSION);

    const user = emptyFolder("user");
    await npm(user, "install", "--no-audit", "--no-fund", "project-automation");
    const program = 'import { VERSION } from "project-automation"; console.log(VERSION);';
    const node = [process.execPath, ["--input-type=module", "--eval", program]] as const;
    expect(execFileSync(...node, { cwd: user, encoding: "utf8" })).toBe(`${VERSION}\n`);
  });
});

/** The settings of the npm that runs the tests are not those of a user. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name)));
}
