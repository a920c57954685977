/** The two kinds of clients, connected as their users do it, and closed when they are disposed of. */
import { Redis } from "ioredis";
import { createClient } from "redis";
import type { RedisRateLimiterOptions } from "../../src/redis/index.ts";

export interface Connected extends AsyncDisposable {
  readonly client: RedisRateLimiterOptions["client"];
  /** Resolves when every earlier command has a reply, or at once if the connection is cut. */
  ping(): Promise<unknown>;
  /** Breaks the connection for good, as the end of a process does. */
  cut(): void;
}

export const CONNECT: { readonly [Kind in "ioredis" | "redis"]: (port: number) => Promise<Connected> } = {
  ioredis: async (port) => {
    const client = new Redis({ port, host: "127.0.0.1", lazyConnect: true, retryStrategy: () => 50 });
    client.on("error", () => {});
    await client.connect();
    const cut = (): void => client.disconnect();
    const ping = (): Promise<unknown> => client.ping().catch(() => undefined);
    return { client, cut, ping, [Symbol.asyncDispose]: async () => cut() };
  },
  redis: async (port) => {
    const client = createClient({ socket: { port, host: "127.0.0.1", reconnectStrategy: () => 50 } });
    client.on("error", () => {});
    await client.connect();
    const cut = (): void => {
      if (client.isOpen) client.destroy();
    };
    const ping = (): Promise<unknown> => client.ping().catch(() => undefined);
    return { client, cut, ping, [Symbol.asyncDispose]: async () => cut() };
  },
};

export type ClientKind = keyof typeof CONNECT;
