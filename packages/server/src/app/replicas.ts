/**
 * What replicas share through Redis, opened for the composition root (app.ts). Its driver is loaded only where there is a
 * Redis.
 */
import type { Settings } from '../config/schema.ts';
import type { Check } from '../http/health-route.ts';
import { createAnswerSeal } from '../idempotency/answer-seal.ts';
import type { Logger } from '../observe/log.ts';
import type { RedisClient } from '../redis/client.ts';
import { findLosses } from '../redis/losses.ts';
import type { Services } from './services.ts';

export interface ReplicasOptions {
  settings: Settings;
  keys: Services['keys'];
  logger: Logger;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** A clock that never goes back, in milliseconds. */
  nowMs: () => number;
}

/** Opened also where Redis does not answer; null where there is none. */
export async function openReplicas({ settings, keys, logger, clock, nowMs }: ReplicasOptions) {
  const { redis, idempotency, cache } = settings;
  if (redis.url === null) return null;
  const [
    { RedisClient },
    { SharedKeyLimits },
    { SharedBreakers },
    { createRedisIdempotency },
    { RedisAnswers },
  ] = await Promise.all([
    import('../redis/client.ts'),
    import('../redis/shared-key-limits.ts'),
    import('../redis/shared-breakers.ts'),
    import('../redis/idempotency.ts'),
    import('../redis/answers.ts'),
  ]);
  const { url } = redis;
  // Replicas of one store have the same name; other deployments can use the same Redis.
  const prefix = `erp-proxy:${Buffer.from(keys.deriveSecret('redis names')).toString('hex', 0, 8)}`;
  /** `what` is what the log calls it. */
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

  const keepsCalls = idempotency.store === 'redis';
  const client = await connect('redis', prefix, (answering) => {
    if (keepsCalls) void warnOfLosses(answering, logger);
  });
  const breakers = new SharedBreakers({ redis: client, nowMs });
  const keepsAnswers = cache.store === 'redis' && cache.bytesMax > 0;
  // A connection of its own: large answers must not hold up what limits ask.
  const answersClient = keepsAnswers
    ? await connect('redis for kept answers', `${prefix}:answers`, () => {})
    : null;

  return {
    limits: new SharedKeyLimits({ redis: client, nowMs, clock }),
    breakers,
    /** Null where they are kept in the store. */
    idempotency: keepsCalls ? createRedisIdempotency(client) : null,
    /** Null where answers are kept in memory, or none are. */
    answers:
      answersClient &&
      new RedisAnswers({
        redis: answersClient,
        seal: createAnswerSeal(keys.deriveSecret('kept answers')),
        secret: keys.deriveSecret('names of kept answers'),
        bytesMax: cache.bytesMax,
      }),
    /** Processes that were there lately; this one is one of them. */
    count: () => client.replicas,
    isUp: () => client.trouble === null,
    check: () => checkRedis(client, keepsCalls),
    async close(): Promise<void> {
      breakers.close();
      await client.close();
      await answersClient?.close();
    },
  };
}

/** Each time that it answers again, since it may be another one then. */
async function warnOfLosses(redis: RedisClient, logger: Logger): Promise<void> {
  // Away again, or not allowed to say: then there is nothing to warn of.
  const losses = findLosses(await redis.readInfo().catch(() => ''));
  if (losses.length > 0) logger.warn('redis can lose idempotency keys', { losses });
}

function checkRedis({ trouble }: RedisClient, keepsCalls: boolean): Check {
  if (trouble === null) return { state: 'ok', detail: null };
  const detail = 'Redis is away; each process keeps its share of the limits';
  const refused = ', and calls with an idempotency key are refused';
  return { state: 'degraded', detail: keepsCalls ? detail + refused : detail };
}
