import { describe, expect, test, vi } from "vitest";
import { sendByNode } from "../../src/doctor/node/send.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { finish, silence } from "../support/raw-behaviours.ts";
import { type Behaviour, CLOSED_PORT, rawServer } from "../support/raw-server.ts";
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
