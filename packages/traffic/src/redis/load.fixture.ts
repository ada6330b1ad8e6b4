/**
 * For tests: one replica that calls with one key for some time, far above its rate. Runs in the process of the test, or
 * in a separate one: `node load.fixture.ts <settings as JSON>`.
 */
import { monotonicMs, pause } from '../../../server/test/time.ts';
import { RedisClient } from './client.ts';
import { SharedKeyLimits } from './shared-key-limits.ts';

export interface Load {
  url: string;
  prefix: string;
  /** The load begins once Redis knows this number of replicas. */
  replicas: number;
  rate: { requests: number; seconds: number; burst: number };
  callsPerSecond: number;
  seconds: number;
  /** Time limit for an answer of Redis. After it, a replica applies its share of the rate by itself. */
  answerTimeoutMs?: number;
}

export interface LoadResult {
  calls: number;
  admitted: number;
  /** When each call was answered, in milliseconds since 1970. */
  answeredAt: number[];
  /** Milliseconds since 1970. */
  startedAt: number;
  endedAt: number;
  /** Times at which Redis went away for this replica and came back, alternately, in milliseconds since 1970. */
  away: number[];
}

export async function runLoad({
  url,
  prefix,
  replicas,
  rate,
  callsPerSecond,
  seconds,
  answerTimeoutMs,
}: Load): Promise<LoadResult> {
  const away: number[] = [];
  let isStarted = false;
  const redis = new RedisClient({
    url,
    prefix,
    onTrouble() {
      if (isStarted) away.push(Date.now());
    },
    ...(answerTimeoutMs === undefined ? {} : { answerTimeoutMs }),
  });
  const limits = new SharedKeyLimits({ redis, nowMs: monotonicMs, clock: Date.now });
  await redis.start();
  while (redis.replicas < replicas) await pause();
  const key = { id: 'loaded', policy: { rate } };
  const startedAt = Date.now();
  isStarted = true;
  let admitted = 0;
  const answers: Promise<void>[] = [];
  const answeredAt: number[] = [];
  const call = async () => {
    if ((await limits.admit(key)).ok) admitted++;
    answeredAt.push(Date.now());
  };
  while (Date.now() < startedAt + seconds * 1000) {
    const due = ((Date.now() - startedAt) * callsPerSecond) / 1000;
    while (answers.length < due) answers.push(call());
    await pause();
  }
  await Promise.all(answers);
  const endedAt = Date.now();
  await redis.close();
  return { calls: answers.length, admitted, answeredAt, startedAt, endedAt, away };
}

const [, program, settings] = process.argv;
if (program === import.meta.filename && settings !== undefined)
  process.stdout.write(JSON.stringify(await runLoad(JSON.parse(settings))));
