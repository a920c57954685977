/** The audit of what is bundled, against a registry of the test's own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { readJson } from "../../support/packed.ts";

const repository = resolve(import.meta.dirname, "../../..");
const { components } = readJson(join(repository, "dist/sbom.cdx.json")) as {
  components: { name: string; version: string }[];
};

/** What a registry says about a package, of which there is one version. */
function packumentOf(name: string): object {
  const version = components.find((component) => component.name === name)?.version ?? "0.0.0";
  return { name, "dist-tags": { latest: version }, versions: { [version]: { name, version } } };
}

/** Runs the audit against a registry with these advisories; without any, there is no registry. */
async function audit(
  advisories: object | undefined,
  ...args: string[]
): Promise<{ asked: unknown[]; code: unknown; output: string }> {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.method !== "POST") {
      response.end(JSON.stringify(packumentOf(decodeURIComponent(request.url?.slice(1) ?? ""))));
      return;
    }
    void buffer(request).then((body) => {
      const isPacked = request.headers["content-encoding"] === "gzip";
      asked.push(JSON.parse((isPacked ? gunzipSync(body) : body).toString()));
      response.end(JSON.stringify(advisories));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  if (advisories === undefined) server.close();
  else onTestFinished(() => void server.close());
  const child = spawn(process.execPath, ["scripts/audit-bundled.mjs", ...args], {
    cwd: repository,
    env: { ...process.env, npm_config_registry: `http://127.0.0.1:${port}`, npm_config_fetch_retries: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { asked, code, output: `${out}${error}` };
}

test("requests the audit of exactly the bundled packages", async () => {
  const { asked, code, output } = await audit({});
  expect(asked).toEqual([Object.fromEntries(components.map(({ name, version }) => [name, [version]]))]);
  expect([code, output]).toEqual([
    0,
    expect.stringContaining(`audit: no known vulnerability of ${components[0]?.name} `),
  ]);
});

test("fails for a known vulnerability, and names it", async () => {
  const advisory = {
    id: 1,
    url: "https://example.com/1",
    title: "It leaks",
    severity: "low",
    vulnerable_versions: "*",
  };
  const { code, output } = await audit({ zod: [advisory] });
  expect([code, output]).toEqual([
    1,
    expect.stringContaining("audit: zod is bundled and has a known vulnerability (low): It leaks"),
  ]);
});

test("passes if the registry is unreachable, unless it is strict", async () => {
  expect(await audit(undefined)).toMatchObject({ code: 0, output: expect.stringContaining("could not be asked") });
  expect(await audit(undefined, "--strict")).toMatchObject({ code: 1 });
});
