import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { hostTest } from "../../src/emulator/node/request-listener.ts";
import { type Audience, type Problem, problemOf, type Visit } from "../../src/page/access.ts";
import { type RunningEmulator, type StartOptions, startEmulator } from "../../src/testing/node.ts";
import { openSocket } from "../emulator/raw-socket.ts";

const OWN: Visit = { remoteAddress: "127.0.0.1", host: "127.0.0.1:4010", site: "none" };
const audience = (...addresses: string[]): Audience => ({ addresses, acceptsHost: hostTest(["emulator"]) });

test.each<[Partial<Visit>, Audience, Problem | undefined]>([
  [{}, audience(), undefined],
  [{ site: undefined }, audience(), undefined],
  [{ site: "same-origin" }, audience(), undefined],
  [{ site: "same-site" }, audience(), "site"], // another port of this machine
  [{ site: "cross-site" }, audience(), "site"],
  [{ site: "" }, audience(), "site"],
  [{ site: "none, cross-site" }, audience(), "site"],
  [{ remoteAddress: "127.8.9.10" }, audience(), undefined],
  [{ remoteAddress: "::1" }, audience(), undefined],
  [{ remoteAddress: "::ffff:127.0.0.1" }, audience(), undefined],
  [{ remoteAddress: "::FFFF:127.0.0.1" }, audience(), undefined],
  [{ remoteAddress: "::ffff:172.17.0.1" }, audience(), "address"],
  [{ remoteAddress: "::1%lo" }, audience(), undefined],
  [{ remoteAddress: "172.17.0.1" }, audience(), "address"],
  [{ remoteAddress: "172.17.0.1" }, audience("172.17.0.1"), undefined],
  [{ remoteAddress: "::ffff:172.17.0.1" }, audience("172.17.0.1"), undefined],
  [{ remoteAddress: "172.17.0.1" }, audience("::ffff:172.17.0.1"), undefined],
  [{ remoteAddress: "172.17.0.12" }, audience("172.17.0.1"), "address"],
  [{ remoteAddress: "fe80::1%eth0" }, audience("FE80::1"), undefined],
  [{ remoteAddress: "1127.0.0.1" }, audience(), "address"],
  [{ remoteAddress: "127.0.0.1.example" }, audience(), "address"],
  [{ remoteAddress: undefined }, audience(), "address"],
  [{ host: undefined }, audience(), undefined],
  [{ host: "localhost:4010" }, audience(), undefined],
  [{ host: "[::1]:4010" }, audience(), undefined],
  [{ host: "EMULATOR:4010" }, audience(), undefined],
  [{ host: "evil.example" }, audience(), "host"],
  [{ host: "127.0.0.1.evil.example" }, audience(), "host"],
  [{ host: "evil.example", site: "cross-site", remoteAddress: "10.0.0.1" }, audience("10.0.0.1"), "host"],
])("a visit with %j by the rule of %j: %s", (part, allowed, problem) => {
  expect(problemOf({ ...OWN, ...part }, allowed)).toBe(problem);
});

interface Answer {
  readonly status: number;
  readonly headers: string;
}

/** Asks for a path with these header lines, from the address that leads to `address`. */
async function ask({ page = "" }: RunningEmulator, lines: readonly string[], address = "127.0.0.1"): Promise<Answer> {
  const { port } = new URL(page);
  const [path = "/", ...headers] = lines;
  const raw = await openSocket(`http://${address}:${port}`);
  raw.write([`GET ${path} HTTP/1.1`, ...headers, "", ""].join("\r\n"));
  const text = await raw.received(/\r\n\r\n/);
  raw.socket.destroy();
  return { status: Number(text.split(" ")[1]), headers: text.split("\r\n\r\n")[0]?.toLowerCase() ?? "" };
}

const PATHS = ["/", "/_emulator/events", "/_emulator/requests/", "/_emulator/requests/req_1"];
const withPage = (options?: StartOptions): Promise<RunningEmulator> => startEmulator({ page: true, ...options });

test.each(PATHS)("%s answers this machine, and no frame, other origin or name", async (path) => {
  await using running = await withPage();
  const statusOf = async (...headers: string[]): Promise<number> => (await ask(running, [path, ...headers])).status;
  const found = path.includes("req_") ? 404 : 200;
  expect(await statusOf("host: 127.0.0.1")).toBe(found);
  expect(await statusOf("host: localhost", "sec-fetch-site: same-origin")).toBe(found);
  expect(await statusOf("host: 127.0.0.1", "sec-fetch-site: none", "sec-fetch-dest: document")).toBe(found);
  expect(await statusOf("host: evil.example")).toBe(421);
  expect(await statusOf("host: 127.0.0.1", "sec-fetch-site: cross-site", "sec-fetch-dest: iframe")).toBe(403);
  expect(await statusOf("host: 127.0.0.1", "sec-fetch-site: same-site", "origin: http://127.0.0.1:1")).toBe(403);
  expect(running.emulator.requests).toEqual([]); // a look is no request of a program
});

test.each(PATHS)("%s is sent with the strictest headers, also where it is refused", async (path) => {
  await using running = await withPage();
  for (const host of ["127.0.0.1", "evil.example"]) {
    const { headers } = await ask(running, [path, `host: ${host}`, "origin: http://127.0.0.1:3000"]);
    expect(headers).toContain("cache-control: no-store");
    expect(headers).toContain("cross-origin-resource-policy: same-origin");
    expect(headers).toContain("frame-ancestors 'none'");
    expect(headers).toMatch(/default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+';/);
    expect(headers).not.toContain("unsafe");
    expect(headers).not.toContain("access-control");
  }
});

const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

test("another address of this machine gets nothing with a forged Host, unless pageFrom names it", async () => {
  await using running = await withPage({ host: "0.0.0.0" });
  const forged = ["host: 127.0.0.1", "sec-fetch-site: none"];
  for (const path of PATHS) expect((await ask(running, [path, ...forged])).status).not.toBe(403);
  if (outside === undefined) return; // a machine without a network
  for (const path of PATHS) expect((await ask(running, [path, ...forged], outside)).status).toBe(403);
  // The service itself asks for a token there, as before.
  expect((await ask(running, ["/api/v1/projects", ...forged], outside)).status).toBe(401);
  await using open = await withPage({ host: "0.0.0.0", pageFrom: [outside] });
  for (const path of PATHS) expect((await ask(open, [path, ...forged], outside)).status).not.toBe(403);
});

test.each<[string, StartOptions]>([
  ["pageFrom needs page: true", { pageFrom: ["10.0.0.1"] }],
  ["pageFrom must be an array of IP addresses", { page: true, pageFrom: ["localhost"] }],
])("wrong options are a TypeError: %s", async (message, options) => {
  const starting = startEmulator(options);
  await expect(starting).rejects.toThrow(message);
  await expect(starting).rejects.toBeInstanceOf(TypeError);
});
