import { Cluster, Redis } from "ioredis";
import { createClient, createClientPool, createCluster } from "redis";
import { Client } from "../../src/client/index.ts";
import { redisRateLimiter } from "../../src/redis/index.ts";

// Both clients are taken as they are, with what they are made from.
new Client({ rateLimiter: redisRateLimiter({ client: new Redis() }) });
redisRateLimiter({ client: new Cluster([]) });
redisRateLimiter({ client: createClient() });
redisRateLimiter({ client: createClientPool() });
redisRateLimiter({ client: createCluster({ rootNodes: [] }) });
redisRateLimiter({
  client: new Redis(),
  onEvent: (event) => (event.type === "degraded" ? event.code?.length : event.afterMs.toFixed()),
});

// @ts-expect-error a client is needed
redisRateLimiter({});
// @ts-expect-error neither of the two
redisRateLimiter({ client: new Map() });
// @ts-expect-error no such option
redisRateLimiter({ client: new Redis(), timeoutMs: 5 });
