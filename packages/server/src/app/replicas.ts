/** Creates the parts that replicas share through Redis. The driver is loaded only if `redis.url` is set. */

import { checkRedis } from '@erp-proxy/observe/health';
import type { Logger } from '@erp-proxy/observe/log';
import { createAnswerSeal } from '@erp-proxy/traffic/idempotency';
import type { PeriodCounts } from '@erp-proxy/traffic/limits';
import type { RedisClient } from '@erp-proxy/traffic/redis';
import { findLosses } from '@erp-proxy/traffic/redis/losses';
import type { Settings } from '../config/schema.ts';
import type { Services } from './services.ts';

export interface ReplicasOptions {
  settings: Settings;
  keys: Services['keys'];
  logger: Logger;
  /** Milliseconds since 1970. */
  clock: () => number;
  periods: PeriodCounts;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

export type Replicas = NonNullable<Awaited<ReturnType<typeof openReplicas>>>;

/** Resolves even if Redis does not answer. Null without `redis.url`. */
export async function openReplicas({ settings, keys, logger, clock, periods, nowMs }: ReplicasOptions) {
  const { redis, idempotency, cache } = settings;
  if (redis.url === null) return null;
  const { RedisClient, SharedKeyLimits, createRedisIdempotency, RedisAnswers } = await import(
    '@erp-proxy/traffic/redis'
  );
  const { url } = redis;
  // All replicas of one store derive the same prefix; other deployments, which can use the same Redis, derive another.
  const prefix = `erp-proxy:${Buffer.from(keys.deriveSecret('redis names')).toString('hex', 0, 8)}`;
  /** `what` names the connection in the log. */
  const connect = async (what: string, name: string, onAnswer: (client: RedisClient) => void) => {
    const client: RedisClient = new RedisClient({
      url,
      prefix: name,
      onTrouble: (trouble) => {
        if (trouble !== null) return logger.error(`${what} is away`, { trouble });
        logger.info(`${what} answers`);
        onAnswer(client);
      },
      onRefusal: (refusal) => logger.error(`${what} refuses an operation`, { ...refusal }),
    });
    await client.start();
    if (client.trouble !== null) logger.error(`${what} is away`, { trouble: client.trouble });
    return client;
  };

  const keepsIdempotencyKeys = idempotency.store === 'redis';
  const client = await connect('redis', prefix, (answering) => {
    if (keepsIdempotencyKeys) void warnOfLosses(answering, logger);
  });
  const keepsAnswers = cache.store === 'redis' && cache.bytesMax > 0;
  // Uses a separate connection, because large answers must not delay the commands for limits.
  const answersClient = keepsAnswers
    ? await connect('redis for kept answers', `${prefix}:answers`, () => {})
    : null;
  const answers =
    answersClient &&
    new RedisAnswers({
      redis: answersClient,
      seal: createAnswerSeal(keys.deriveSecret('kept answers')),
      secret: keys.deriveSecret('names of kept answers'),
      bytesMax: cache.bytesMax,
    });
  await answers?.start();

  return {
    limits: new SharedKeyLimits({ redis: client, nowMs, clock, periods }),
    /** Null if the store keeps the idempotency keys. */
    idempotency: keepsIdempotencyKeys ? createRedisIdempotency(client) : null,
    /** Null if answers are cached in memory, or not at all. */
    answers,
    /** Number of processes seen lately, including this one. */
    count: () => client.replicas,
    /** Takes over user and password of another `redis.url`. Rejects if the server refuses them. */
    async takeLogin(next: string): Promise<void> {
      await client.takeLogin(next);
      await answersClient?.takeLogin(next);
    },
    isUp: () => client.trouble === null,
    check: () => checkRedis(client, keepsIdempotencyKeys),
    async close(): Promise<void> {
      await client.close();
      await answersClient?.close();
    },
  };
}

/** Called whenever Redis answers again after a failure: it may then be another Redis. */
async function warnOfLosses(redis: RedisClient, logger: Logger): Promise<void> {
  // If Redis is away again, or does not permit the command, there is no warning.
  const losses = findLosses(await redis.readInfo().catch(() => ''));
  if (losses.length > 0) logger.warn('redis can lose idempotency keys', { losses });
}
