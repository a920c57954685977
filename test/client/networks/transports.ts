/**
 * Sends each of `rows`, over a transport in an order, and prints what the client tells. `places` has the ports, and the files of
 * axios and got.
 */
export const PROGRAM = `
  import { execFile } from "node:child_process";
  import http from "node:http";
  import http2 from "node:http2";
  import { createRequire } from "node:module";
  import { pathToFileURL } from "node:url";
  import { Worker } from "node:worker_threads";
  const load = createRequire(places.tools);
  const got = rows.some(({ transport }) => transport === "got") ? (await import(pathToFileURL(places.got))).default : undefined;
  const response = (status, text) => new Response(text, { status, headers: { "content-type": "application/json" } });
  const worker = new Worker(
    'require("node:worker_threads").parentPort.on("message", ([url, init]) => fetch(url, init)' +
    '.then(({ status }) => status, () => 0).then((status) => require("node:worker_threads").parentPort.postMessage(status)))',
    { eval: true });
  worker.unref();
  const undici = (version, dispatcher) => (url, init) => load(version).fetch(url, { ...init, dispatcher });
  const withDispatcher = (version, name, origin) => {
    const { Agent, Pool, ProxyAgent, RetryAgent, interceptors } = load(version);
    if (name === "Agent") return new Agent();
    if (name === "Pool") return new Pool(origin, { connections: 1 });
    if (name === "RetryAgent") return new RetryAgent(new Agent());
    if (name === "cache") return new Agent().compose(interceptors.cache());
    if (name === "ProxyAgent") return new ProxyAgent("http://127.0.0.1:" + places.closed);
    return new Agent({ allowH2: true, connect: { rejectUnauthorized: false } });
  };
  const axios = (adapter) => async (url, { method, headers, body }) => {
    const { status, data } = await load("axios")({ adapter, url, method, headers, data: body, responseType: "text" });
    return response(status, data);
  };
  const transports = {
    "global fetch": (url, init) => fetch(url, init),
    "node:http": (url, { method, headers, body }) => new Promise((resolve, reject) => {
      const request = http.request(url, { method, headers }, (answer) =>
        answer.resume().on("end", () => resolve(response(answer.statusCode, "{}"))));
      request.on("error", reject).end(body);
    }),
    "node:http2": (url, { method, headers, body }) => new Promise((resolve, reject) => {
      const { origin, pathname, port } = new URL(url);
      const session = http2.connect(port === String(places.closed) ? origin : "http://127.0.0.1:" + places.http2);
      const stream = session.on("error", reject).request({ ":method": method, ":path": pathname, authorization: headers.authorization });
      let status;
      stream.on("response", (head) => { status = head[":status"]; });
      stream.on("error", reject).on("close", () => {
        session.destroy();
        if (status === undefined) reject(new Error("lost")); else resolve(response(status, "{}"));
      });
      stream.resume().end(body);
    }),
    axios: axios("http"),
    "axios over fetch": axios("fetch"),
    got: async (url, { method, headers, body }) =>
      response((await got(url, { method, headers, body, retry: { limit: 0 } })).statusCode, "{}"),
    curl: (url, { method, body }) => new Promise((resolve, reject) => {
      execFile("curl", ["-sf", "-X", method, "-d", body, url], (error) => error ? reject(error) : resolve(response(201, "{}")));
    }),
    worker: (url, { method, headers, body }) => new Promise((resolve, reject) => {
      worker.ref();
      worker.once("message", (status) => {
        worker.unref();
        if (status) resolve(response(status, "{}")); else reject(new TypeError("fetch failed"));
      });
      worker.postMessage([url, { method, headers: { ...headers }, body }]);
    }),
  };
  const overOf = (transport, origin) => {
    const [version, dispatcher] = transport.split(" ");
    if (!version.startsWith("undici")) return transports[transport];
    return undici(version, dispatcher && withDispatcher(version, dispatcher, origin));
  };
  const orders = {
    lost: (over) => over,
    refused: (over) => over,
    before: (over, open) => async (url, init) => over(open(url), init).catch(() => fetch(url, init)),
    after: (over, open) => async (url, init) => {
      try { return await fetch(url, init); } catch (first) { return await over(open(url), init).catch(() => { throw first; }); }
    },
    beside: (over, open) => async (url, init) => {
      try { return await fetch(url, init); } catch (first) {
        over(open(url), init).catch(() => {});
        throw first;
      }
    },
    read: (over, open) => async (url, init) => {
      const written = await over(open(url), init);
      await fetch(url + "?again=1");
      return written;
    },
  };
  orders["old ticks"] = orders.before;
  const told = [];
  for (const [index, { transport, order }] of rows.entries()) {
    const port = order === "lost" ? places.mortal[transport] ?? places.http1 : places.closed;
    const origin = (transport.endsWith("HTTP/2") ? "https" : "http") + "://127.0.0.1:" + port;
    const open = (url) => url.replace(":" + places.closed, ":" + places.http1);
    const ofRealTicks = globalThis.process;
    // As in Jest: fake timers that were there before the import.
    if (order === "old ticks") globalThis.process = Object.create(ofRealTicks, { nextTick: { value: () => {} } });
    const { Client: Fresh } = order === "old ticks" ? await import("./client.mjs?fresh") : { Client };
    const over = orders[order](overOf(transport, origin), open);
    const retry = { minDelayMs: 1 };
    const client = new Fresh({ baseUrl: origin + "/" + index + "/api/v1", token: "pat_key_secretsecret", fetch: over, retry });
    const end = await client.issues.create("web", { title: "One", type: "bug" }).catch((error) => error);
    globalThis.process = ofRealTicks;
    told.push({ transport, order, outcome: end.outcome ?? "accepted", attempts: end.attempts, message: end.message });
  }
  console.log(JSON.stringify(told));`;
