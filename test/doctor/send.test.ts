import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import https, { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { sendByNode } from "../../src/doctor/node/send.ts";
import type { Report } from "../../src/doctor/report.ts";
import type { Send } from "../../src/doctor/wire.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { finish, silence } from "../support/raw-behaviours.ts";
import { type Behaviour, CLOSED_PORT, rawServer } from "../support/raw-server.ts";
import { SELF_SIGNED } from "../support/self-signed.ts";
import { examine } from "./examine.ts";

const bytes =
  (text: string): Behaviour =>
  ({ socket, done }) => {
    socket.end(text.replaceAll("\n", "\r\n"), done);
  };

const get = (url: string) => ({ method: "GET", url, headers: {} }) as const;

describe("a request of the doctor's", () => {
  test("shows a redirect as it is", async () => {
    await using server = await rawServer([bytes("HTTP/1.1 302 Found\nlocation: /elsewhere\ncontent-length: 0\n\n")]);
    const response = await sendByNode(get(server.baseUrl));
    expect(response).toMatchObject({ kind: "response", status: 302, text: "", tls: undefined });
    expect(response.kind === "response" && response.headers.get("location")).toBe("/elsewhere");
    expect(server.requests).toHaveLength(1);
  });

  test("shows repeated headers, and a body of any content type", async () => {
    const head = "HTTP/1.1 200 OK\nretry-after: 1\nretry-after: 2\ncontent-type: text/html\ncontent-length: 3\n\n";
    await using server = await rawServer([bytes(`${head}<p>`)]);
    const response = await sendByNode(get(server.baseUrl));
    expect(response).toMatchObject({ status: 200, text: "<p>" });
    expect(response.kind === "response" && response.headers.get("retry-after")).toBe("1, 2");
  });

  test("shows a body that is empty, whatever its encoding", async () => {
    await using server = await rawServer([bytes("HTTP/1.1 200 OK\ncontent-encoding: gzip\ncontent-length: 0\n\n")]);
    expect(await sendByNode(get(server.baseUrl))).toMatchObject({ status: 200, text: "" });
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("reads a body in %s, as fetch does, though it asked for none", async (encoding, compress) => {
    const body = compress('{"data":[]}');
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`;
    await using server = await rawServer([
      ({ socket, done }) => void socket.end(Buffer.concat([Buffer.from(head), body]), done),
    ]);
    expect(await sendByNode(get(server.baseUrl))).toMatchObject({ status: 200, text: '{"data":[]}' });
  });

  test("shows a status that ends HTTP on its connection", async () => {
    await using server = await rawServer([
      ({ socket }) =>
        void socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    ]);
    expect(await sendByNode(get(server.baseUrl))).toMatchObject({ kind: "response", status: 101, text: "" });
  });

  test("carries what it is given, and no more than Node has to add", async () => {
    await using server = await rawServer([bytes("HTTP/1.1 204 No Content\n\n")]);
    const headers = { authorization: "Bearer x", "content-type": "application/json" };
    await sendByNode({ method: "POST", url: `${server.baseUrl}/me/tokens`, headers, body: '{"name":"ä"}' });
    expect(server.requests[0]).toMatchObject({ method: "POST", target: "/api/v1/me/tokens", body: '{"name":"ä"}' });
    expect(Object.keys(server.requests[0]?.headers ?? {}).sort()).toEqual([
      "authorization",
      "connection",
      "content-length",
      "content-type",
      "host",
    ]);
  });

  test.each<[string, Behaviour, string]>([
    ["bytes that are not HTTP", bytes("SSH-2.0-OpenSSH\n"), "HPE_INVALID_CONSTANT"],
    ["a body that is cut off", bytes('HTTP/1.1 200 OK\ncontent-length: 99\n\n{"data'), "ECONNRESET"],
    ["a body that is not in its encoding", bytes("HTTP/1.1 200 OK\ncontent-encoding: gzip\n\n{}"), "Z_DATA_ERROR"],
    ["a connection that is closed without a response", finish, "ECONNRESET"],
    ["silence", silence, "TIMEOUT"],
    ["a body that never ends", ({ socket }) => void socket.write("HTTP/1.1 200 OK\r\n\r\n{"), "TIMEOUT"],
  ])("of %s is a failure with a code, and was sent", async (_, behaviour, code) => {
    await using server = await rawServer([behaviour]);
    const failure = { kind: "failure", code, isSent: true };
    expect(await sendByNode(get(server.baseUrl), undefined, 500)).toMatchObject(failure);
  });

  test.each([
    [`http://127.0.0.1:${CLOSED_PORT}/`, "ECONNREFUSED"],
    [`http://localhost:${CLOSED_PORT}/`, "ECONNREFUSED"],
    // Linux refuses this one before the request gets its socket.
    ["http://255.255.255.255/", expect.stringMatching(/^E/)],
    ["http://service.invalid/", expect.stringMatching(/^(?:ENOTFOUND|EAI_AGAIN)$/)],
  ])("to %s is a failure with a code, and was not sent", async (url, code) => {
    expect(await sendByNode(get(url))).toMatchObject({ kind: "failure", code, isSent: false });
  });

  test("whose TLS handshake hangs was not sent", async () => {
    await using server = await rawServer([]);
    const url = server.baseUrl.replace("http:", "https:");
    expect(await sendByNode(get(url), undefined, 500)).toMatchObject({ code: "TIMEOUT", isSent: false });
  });

  test("was sent on a socket that was secured before the request got it, as in a tunnel", async () => {
    await using server = await rawServer([finish], { tls: true });
    const socket = connect({ port: server.port, host: "127.0.0.1", ca: SELF_SIGNED.cert });
    await once(socket, "secureConnect");
    const agent = Object.assign(new https.Agent(), { createConnection: () => socket });
    using _ = vi.spyOn(https, "globalAgent", "get").mockReturnValue(agent);
    expect(await sendByNode(get(server.baseUrl))).toMatchObject({ code: "ECONNRESET", isSent: true });
    expect(server.requests).toHaveLength(1);
  });
});

test("a service that stops in the middle of a body is connected", async () => {
  await using server = await rawServer([
    ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"data'),
  ]);
  const send: Send = (request) => sendByNode(request, undefined, 100);
  const { report } = await examine({ baseUrl: server.baseUrl, token: "emu_0_0" }, { send });
  expect(report.verdict).toBe("no usable response: no whole response came in time (TIMEOUT)");
});

test("no setting of Node makes a connection trusted", async () => {
  await using server = await rawServer([], { tls: true });
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {}); // Node warns of that setting
  try {
    const failure = { code: "DEPTH_ZERO_SELF_SIGNED_CERT", isSent: false };
    expect(await sendByNode(get(server.baseUrl))).toMatchObject(failure);
  } finally {
    vi.unstubAllEnvs();
    warn.mockRestore();
  }
});

test("one request that fails is one question that is not asked", async () => {
  const emulator = createEmulator();
  const { question, report } = await examine(
    { ...emulator, baseUrl: emulator.baseUrl },
    {
      send: async ({ url, method, headers }) => {
        if (url.endsWith("limit=0")) return { kind: "failure", code: "ECONNRESET", message: "", isSent: true };
        const response = await emulator.fetch(url, { method, headers });
        return { kind: "response", status: response.status, headers: response.headers, text: await response.text() };
      },
    },
  );
  expect(question("limit-zero")).toMatchObject({ verdict: "not_asked", seen: "no response: ECONNRESET" });
  expect(question("limit-above").verdict).toBe("agrees");
  expect(report.result).toBe("agrees");
});

test("a certificate of an authority that Node trusts is named, with what is left of it", async () => {
  const emulator = createEmulator();
  const server = createServer(SELF_SIGNED, (incoming, outgoing) => {
    const authorization = incoming.headers.authorization;
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    void emulator
      .fetch(`https://emulator.invalid${incoming.url ?? ""}`, { headers })
      .then(async (response) =>
        outgoing.writeHead(response.status, [...response.headers].flat()).end(await response.text()),
      );
  });
  const folder = mkdtempSync(join(tmpdir(), "doctor-"));
  try {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // of a TCP server
    const authority = join(folder, "authority.pem");
    writeFileSync(authority, SELF_SIGNED.cert);
    const environment = {
      ...process.env,
      NODE_EXTRA_CA_CERTS: authority,
      PROJECT_AUTOMATION_BASE_URL: `https://127.0.0.1:${port}/api/v1`,
      PROJECT_AUTOMATION_TOKEN: emulator.token,
    };
    const bin = join(import.meta.dirname, "../../src/bin.ts");
    const child = spawn(process.execPath, [bin, "doctor", "--json"], { env: environment });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    expect(await once(child, "close")).toEqual([0, null]);
    const { questions } = JSON.parse(out) as Report; // what it prints
    expect(questions.find(({ id }) => id === "connection")).toMatchObject({
      verdict: "agrees",
      seen: expect.stringMatching(/^TLSv1\.3, signed by 127\.0\.0\.1, expires in \d{5} days$/),
    });
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  }
});
