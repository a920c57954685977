import { hasMethods } from "../client/checks/values.ts";

/** What is used of an `ioredis` client, a cluster's included. */
export interface IoredisClient {
  defineCommand(name: string, definition: { lua: string }): void;
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What is used of a client of `redis` (node-redis), a cluster's, pool's or sentinel's included. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A script to run inside Redis, its keys and its arguments. */
export interface Command {
  readonly script: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** Runs a script inside Redis. */
export type Evaluate = (command: Command) => Promise<unknown>;

/** How a client runs scripts, by its shape; `undefined` if it is neither of the two. */
export function evaluateWith(client: unknown): Evaluate | undefined {
  if (isIoredis(client)) {
    return async ({ script, keys, args }) => await client.eval(script, keys.length, ...keys, ...args);
  }
  if (isNodeRedis(client)) {
    return async ({ script, keys, args }) => await client.eval(script, { keys: [...keys], arguments: [...args] });
  }
  return undefined;
}

function isIoredis(client: unknown): client is IoredisClient {
  return hasMethods(client, "eval", "defineCommand");
}

function isNodeRedis(client: unknown): client is NodeRedisClient {
  return hasMethods(client, "eval") && typeof (client as { isOpen?: unknown }).isOpen === "boolean"; // it is an object
}
