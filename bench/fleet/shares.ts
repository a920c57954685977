/**
 * How evenly a fleet shares what is left: a service that always says the same number is left, and logs which process each
 * request comes from.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { CALL_HEADER } from "../rate-limit/experiment.ts";
import { Part } from "../support/part.ts";
import { CALLS_EACH, type MemberReport, PROCESSES, type Ready, type Task } from "./experiment.ts";

const RESPONSE_MS = 20;
const TIME_LIMIT_MS = 120_000;

/** What each process had been served when the first of them was done. */
export interface Shares {
  readonly remaining: number;
  readonly served: readonly number[];
  /** The most requests of one process in a row. */
  readonly longestRun: number;
  readonly requestsPerSecond: number;
}

export async function measureShares(remaining: number, redis: string): Promise<Shares> {
  const log: string[] = [];
  const server = createServer((request, response) => {
    log.push(String(request.headers[CALL_HEADER]).split("-")[0] ?? "");
    const headers = { "content-type": "application/json", "ratelimit-remaining": String(remaining) };
    setTimeout(() => response.writeHead(200, headers).end("{}"), RESPONSE_MS);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  const names = Array.from({ length: PROCESSES }, (_, index) => `p${index + 1}`);
  const service = { baseUrl, token: `pat_share_${remaining}`, projects: [] };
  const members = names.map((name) => {
    return new Part(new URL("member.ts", import.meta.url), { name, service, redis } satisfies Task);
  });
  try {
    await Promise.all(members.map((member) => member.next<Ready>(TIME_LIMIT_MS)));
    const startedAt = performance.now();
    for (const member of members) member.tell("go");
    await Promise.all(members.map((member) => member.next<MemberReport>(TIME_LIMIT_MS)));
    const seconds = (performance.now() - startedAt) / 1_000;
    const end = Math.min(...names.map((name) => indexOfNth(log, name, CALLS_EACH)));
    const contended = log.slice(0, end);
    const served = names.map((name) => contended.filter((one) => one === name).length);
    // The first requests of all processes leave before anything is known.
    const runs = contended.slice(PROCESSES * 10).map((name, at, all) => {
      const next = all.findIndex((other, later) => later > at && other !== name);
      return (next < 0 ? all.length : next) - at;
    });
    return { remaining, served, longestRun: Math.max(...runs), requestsPerSecond: log.length / seconds };
  } finally {
    await Promise.all(members.map((member) => member.stop()));
    server.closeAllConnections();
    server.close();
  }
}

function indexOfNth(log: readonly string[], name: string, count: number): number {
  const places = log.flatMap((one, at) => (one === name ? [at] : []));
  return places[count - 1] ?? log.length;
}
