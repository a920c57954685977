export type { IoredisClient, NodeRedisClient } from "./client.ts";
export type { DegradedEvent, FleetEvent, RejoinedEvent } from "./events.ts";
export type { RedisRateLimiterOptions } from "./options.ts";
export { redisRateLimiter } from "./redis-rate-limiter.ts";
