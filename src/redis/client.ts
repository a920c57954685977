import { fieldsOf, hasMethods } from "../core/checks/values.ts";

/** The part of an `ioredis` client, or of a cluster's, that is used. */
export interface IoredisClient {
  defineCommand(name: string, definition: { lua: string }): void;
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** The part of a `redis` (node-redis) client, or of a cluster's, pool's or sentinel's, that is used. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  /** Absent in early versions of a cluster's. */
  readonly isReady?: boolean;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A script to run inside Redis, its keys and its arguments. */
export interface Command {
  readonly script: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

export type Evaluate = (command: Command) => Promise<unknown>;

/** Returns the function that runs scripts through a client, by its shape; `undefined` if it is neither of the two. */
export function evaluateWith(client: unknown): Evaluate | undefined {
  if (isIoredis(client)) {
    return async ({ script, keys, args }) => await client.eval(script, keys.length, ...keys, ...args);
  }
  if (isNodeRedis(client)) {
    return async ({ script, keys, args }) => {
      if (!client.isOpen) throw new NotConnected("the Redis client is not connected: call its connect()");
      const isConnecting = (): boolean => client.isReady === false;
      const wasConnecting = isConnecting();
      try {
        return await client.eval(script, { keys: [...keys], arguments: [...args] });
      } catch (error) {
        // A client keeps commands until it has a connection. A cluster's refuses them, and says so without a code.
        const isOffline = wasConnecting && isConnecting() && fieldsOf(error)["code"] === undefined;
        throw isOffline ? new NotConnected("the Redis client has no connection yet") : error;
      }
    };
  }
  return undefined;
}

/** A client of node-redis has no connection. The message is for a log line. */
export class NotConnected extends Error {}

interface Emitter {
  on(event: "error", listener: (error: unknown) => unknown): void;
}

export interface ClientErrors {
  /** The latest one since Redis replied: it says why a command waits in the client's own queue. */
  latest: unknown;
}

const errorsOf = new WeakMap<object, ClientErrors>();

/**
 * Listens to the errors of a client that was given, once for all limiters that use it: without a listener node-redis ends
 * the process.
 */
export function hearErrors(client: object): ClientErrors {
  const known = errorsOf.get(client);
  if (known !== undefined) return known;
  const errors: ClientErrors = { latest: undefined };
  errorsOf.set(client, errors);
  const hear = (error: unknown): unknown => Object.assign(errors, { latest: error });
  if (hasMethods(client, "on")) (client as Emitter).on("error", hear);
  return errors;
}

function isIoredis(client: unknown): client is IoredisClient {
  return hasMethods(client, "eval", "defineCommand");
}

function isNodeRedis(client: unknown): client is NodeRedisClient {
  return hasMethods(client, "eval") && typeof fieldsOf(client)["isOpen"] === "boolean";
}
