/**
 * One backend, many users: what a client for each token costs, and what a rate limiter that they share keeps of 10 000
 * tokens. In process, with a `fetch` that answers at once.
 *
 * Usage: node --expose-gc many-users/index.ts [--package FOLDER]
 */
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { Client } from "../../dist/index.js";
import { table, writeResults } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import { versionsOf } from "../support/versions.ts";

const ROUNDS = 5;
const USERS = 10_000;

const root = resolve(import.meta.dirname, "../..");
const { package: measured } = parseArgs({ options: { package: { type: "string", default: root } } }).values;
const entryPoint = pathToFileURL(join(resolve(measured), "dist/index.js")).href;
const library = (await import(entryPoint)) as typeof import("../../dist/index.js"); // another checkout's has that shape
const collect = globalThis.gc;
if (collect === undefined) throw new Error("start it with --expose-gc");

const fetch = async (): Promise<Response> =>
  new Response('{"id":"ses_1","state":"done"}', {
    headers: { "ratelimit-limit": "600", "ratelimit-remaining": "599" },
  });
const tokenOf = (user: number): string => `pat_${user}_secret`;

/** A client, and the rate limiter that those derived from it share. */
function createBase(): Client {
  const baseUrl = "https://automation.example.com/api/v1";
  return new library.Client({ baseUrl, token: "pat_base_secret", fetch, rateLimiter: library.memoryRateLimiter() });
}

function heap(): number {
  collect?.();
  return process.memoryUsage().heapUsed;
}

/** Microseconds of this thread for each user. */
async function timeOf(work: () => Promise<void> | void): Promise<number> {
  const { user, system } = process.threadCpuUsage();
  await work();
  const spent = process.threadCpuUsage({ user, system });
  return (spent.user + spent.system) / USERS;
}

const callAll = async (clients: Iterable<Client>): Promise<void> => {
  for (const client of clients) await client.sessions.get("ses_1");
};

function* derive(base: Client): Generator<Client> {
  for (let user = 0; user < USERS; user += 1) yield base.withOptions({ token: tokenOf(user) });
}

interface Round {
  readonly createUs: number;
  readonly clientBytes: number;
  readonly callUs: number;
  readonly createAndCallUs: number;
  readonly usedClientBytes: number;
  readonly leftBytes: number;
}

async function measure(): Promise<Round> {
  const base = createBase();
  await base.sessions.get("ses_1");
  const empty = heap();
  let clients: Client[] = [];
  const createUs = await timeOf(() => {
    clients = [...derive(base)];
  });
  const created = heap();
  await callAll(clients.slice(0, 100));
  const callUs = await timeOf(() => callAll(clients));
  const called = heap();
  clients = [];
  const dropped = heap();
  const createAndCallUs = await timeOf(() => callAll(derive(base)));
  await base.sessions.get("ses_1"); // the base and its rate limiter are in use until here
  return {
    createUs,
    clientBytes: (created - empty) / USERS,
    callUs,
    createAndCallUs,
    usedClientBytes: (called - empty) / USERS,
    leftBytes: (dropped - empty) / USERS,
  };
}

await measure(); // warms up
const rounds: Round[] = [];
for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure());
const figure = (name: keyof Round): number => median(rounds.map((round) => round[name]));

console.log(`${USERS} users, median of ${ROUNDS} rounds; Node ${process.version}\n`);
const us = (name: keyof Round): string => `${figure(name).toFixed(1)} µs`;
const bytes = (name: keyof Round): string => `${Math.round(figure(name))} bytes`;
console.log(
  table(
    ["for each user", ""],
    [
      ["create a client with withOptions({ token })", us("createUs")],
      ["a call with a client that was kept", us("callUs")],
      ["create a client and make one call", us("createAndCallUs")],
      ["heap of a client that was kept, unused", bytes("clientBytes")],
      ["heap of a client and its token in the rate limiter, after a call", bytes("usedClientBytes")],
      ["heap left in the rate limiter when the clients are gone", bytes("leftBytes")],
    ],
  ),
);
const versions = versionsOf(["project-automation"]);
console.log(`\nwritten: ${relative("", writeResults("many-users", { users: USERS, versions, rounds }))}`);
