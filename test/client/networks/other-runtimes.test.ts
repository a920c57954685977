/** What Bun and Deno call it: each line of the guide on that runtime, where it is installed (tools/runtimes). */
import { expect, test } from "vitest";
import { NEEDS_ALL } from "../../support/all-tests.ts";
import { runProgram } from "../../support/child-program.ts";
import { findRuntimes } from "../runtimes/binaries.ts";
import { CA_FILE, CLIENT } from "./certificates.ts";
import { connectProxy } from "./connect-proxy.ts";
import { type TlsService, tlsService } from "./tls-service.ts";

const TOKEN = "pat_key_aSecretForTheServiceAlone";
const { here } = findRuntimes();
const bun = here.filter(({ kind }) => kind === "bun");
const deno = here.filter(({ kind }) => kind === "deno");
const DENO_FLAGS = ["run", "--no-check", "--allow-all"];

const call = ({ baseUrl }: TlsService, fetchOptions: string): string => `
  const client = new Client({
    baseUrl: ${JSON.stringify(baseUrl)},
    token: ${JSON.stringify(TOKEN)},
    retry: false,
    fetchOptions: ${fetchOptions},
  });
  console.log(JSON.stringify(await client.sessions.get("ses_1").catch((error) => error)));`;

const PEM = JSON.stringify({ ...CLIENT, caFile: CA_FILE });
const readCa = `const { readFileSync } = await import("node:fs"); const pem = ${PEM}; const ca = readFileSync(pem.caFile, "utf8");`;

test("both runtimes are there, if all tests are asked for", () => {
  if (NEEDS_ALL) expect([bun.length, deno.length]).toEqual([1, 1]);
  else expect(bun.length + deno.length).toBeLessThanOrEqual(2);
});

/** A process that may do anything but connect. */
const CONFINED = [
  ...here
    .filter(({ name }) => name === "Node 26")
    .map((node) => ({ ...node, flags: ["--permission", "--allow-fs-read=*"] })),
  ...deno.map((one) => ({ ...one, flags: ["run", "--no-check", "--allow-read", "--allow-env"] })),
];

test.each(CONFINED)("$name without --allow-net: tried once, and the flag is named", async (runtime) => {
  const { executable, flags, kind } = runtime;
  const program = `
    const client = new Client({ baseUrl: "https://automation.example.com/api/v1", token: "t" });
    const told = ({ outcome, attempts, message }) => ({ outcome, attempts, message });
    const write = await client.issues.create("web", { title: "One", type: "bug" }).catch(told);
    const read = await client.sessions.get("1").catch(told);
    console.log(JSON.stringify([write, read]));`;
  const { stdout } = await runProgram(program, { executable, flags });
  const message = expect.stringContaining("--allow-net");
  // Node alone shows that nothing left.
  const outcome = kind === "node" ? "not_sent" : "unknown";
  expect(JSON.parse(stdout)).toEqual([
    { outcome, attempts: 1, message },
    { attempts: 1, message },
  ]);
});

test.each(bun)("$name: proxy, tls.ca and tls.cert of fetch", async ({ executable }) => {
  const [service, proxy] = await Promise.all([tlsService({ requestCert: true }), connectProxy()]);
  const options = `{ proxy: ${JSON.stringify(proxy.url)}, tls: { ca, cert: pem.cert, key: pem.key } }`;
  const { stdout, stderr } = await runProgram(`${readCa} ${call(service, options)}`, { executable });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({ id: "ses_1" });
  expect(proxy.asked).toEqual([`CONNECT localhost:${service.port}`]);
  expect(service.received).toMatchObject([{ client: "test client" }]);
});

test.each(bun)("$name: HTTPS_PROXY and NODE_EXTRA_CA_CERTS", async ({ executable }) => {
  const [service, proxy] = await Promise.all([tlsService(), connectProxy()]);
  const environment = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: CA_FILE };
  const { stdout } = await runProgram(call(service, "{}"), { executable, environment });
  expect(JSON.parse(stdout)).toMatchObject({ id: "ses_1" });
  expect(proxy.asked).toEqual([`CONNECT localhost:${service.port}`]);
});

test.each(deno)("$name: client of Deno.createHttpClient", async ({ executable }) => {
  const [service, proxy] = await Promise.all([tlsService({ requestCert: true }), connectProxy()]);
  const http = `Deno.createHttpClient({
    proxy: { url: ${JSON.stringify(proxy.url)} }, caCerts: [ca], cert: pem.cert, key: pem.key,
  })`;
  const program = `${readCa} const http = ${http}; ${call(service, "{ client: http }")} http.close();`;
  const { stdout, stderr } = await runProgram(program, { executable, flags: DENO_FLAGS });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({ id: "ses_1" });
  expect(proxy.asked).toEqual([`CONNECT localhost:${service.port}`]);
  expect(service.received).toMatchObject([{ client: "test client" }]);
});

test.each(deno)("$name: HTTPS_PROXY and DENO_CERT", async ({ executable }) => {
  const [service, proxy] = await Promise.all([tlsService(), connectProxy()]);
  // Once a day Deno looks for an update of itself, through the proxy too.
  const environment = { HTTPS_PROXY: proxy.url, DENO_CERT: CA_FILE, DENO_NO_UPDATE_CHECK: "1" };
  const { stdout } = await runProgram(call(service, "{}"), { executable, flags: DENO_FLAGS, environment });
  expect(JSON.parse(stdout)).toMatchObject({ id: "ses_1" });
  expect(proxy.asked).toEqual([`CONNECT localhost:${service.port}`]);
});

test.each([...bun, ...deno])("$name: a certificate that nobody knows is refused, and not retried", async (runtime) => {
  const { kind, executable } = runtime;
  const service = await tlsService();
  const program = call(service, "{}").replace("retry: false", "retry: { minDelayMs: 0 }");
  const { stdout } = await runProgram(program, { executable, flags: kind === "deno" ? DENO_FLAGS : [] });
  expect(JSON.parse(stdout)).toMatchObject({ kind: "connection", permanent: true, attempts: 1 });
  expect(service.received).toEqual([]);
});
