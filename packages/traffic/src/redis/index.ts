/** State that replicas share in Redis. Loaded only if `redis.url` is set. */
export { RedisAnswers } from './answers.ts';
export { RedisClient } from './client.ts';
export { createRedisIdempotency } from './idempotency.ts';
export { SharedKeyLimits } from './shared-key-limits.ts';
