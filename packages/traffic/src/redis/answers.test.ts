import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { createRandom } from '../../../server/test/seeded-random.ts';
import { measureMs, pause, pauseAtRandom } from '../../../server/test/time.ts';
import { createAnswerSeal } from '../idempotency/answer-seal.ts';
import type { ReadMoment } from '../sharing/answer-store.ts';
import { RedisAnswers } from './answers.ts';
import type { RedisClient } from './client.ts';
import { openTestRedis, PATIENCE_MS, type TestRedis, WIRE_TIMEOUT_MS } from './test-redis.fixture.ts';

const SERVER_URL = process.env['TEST_REDIS_URL'] ?? '';
const MINUTE = 60_000;
const AGE_MS = 30;
/** About as long as Redis takes for an answer. */
const PAUSE_MS_MAX = 4;
const PARTNERS = { name: 'partners', database: 'https://erp.example prod', model: 'res.partner' };
const SECRET = randomBytes(32);

describe.skipIf(SERVER_URL === '')('on the server that TEST_REDIS_URL names', () => {
  let testRedis: TestRedis;
  let inspector: Redis;
  /** Connected to the server through `wire`. */
  let oneRedis: RedisClient;
  let twoRedis: RedisClient;
  let one: RedisAnswers;
  let two: RedisAnswers;

  beforeEach(async () => {
    testRedis = await openTestRedis(SERVER_URL);
    inspector = new Redis(SERVER_URL);
    [oneRedis, twoRedis] = await Promise.all([
      testRedis.connect(testRedis.wire.url, PATIENCE_MS),
      testRedis.connect(),
    ]);
    [one, two] = [await open(oneRedis), await open(twoRedis)];
  });
  afterEach(async () => {
    inspector.disconnect();
    await testRedis.close();
  });

  /** Opens answers, which drops all earlier ones, as at the start of a process. */
  async function open(redis: RedisClient, changes: { secret?: Uint8Array; bytesMax?: number } = {}) {
    const { secret = SECRET, bytesMax = 1_000_000 } = changes;
    const answers = new RedisAnswers({ redis, secret, bytesMax, seal: createAnswerSeal(secret) });
    await answers.start();
    return answers;
  }

  /** Begins a read that finds no kept answer. */
  async function ask(answers: RedisAnswers, scope = PARTNERS): Promise<ReadMoment> {
    const { kept, mark } = await answers.find(scope, MINUTE);
    expect(kept).toBeNull();
    return { askedMs: 0, writes: 0, mark };
  }

  async function look(answers: RedisAnswers, maxAgeMs = MINUTE, scope = PARTNERS): Promise<string | null> {
    const { kept } = await answers.find(scope, maxAgeMs);
    return kept && Buffer.from(kept.answer).toString();
  }

  /** Waits until the answer is stored: operations on one connection run in order. */
  async function keep(answers: RedisAnswers, text: string, scope = PARTNERS, maxAgeMs = MINUTE) {
    answers.keep(scope, await ask(answers, scope), maxAgeMs, Buffer.from(text));
    await answers.find(scope, 0);
  }

  test('an answer that one process keeps is found by all, with its age by the clock of Redis', async () => {
    const moment = await ask(one);
    await pause(AGE_MS);
    one.keep(PARTNERS, moment, MINUTE, Buffer.from('[1, 2]}'));
    await expect.poll(() => look(two)).toBe('[1, 2]}');
    const { kept } = await two.find(PARTNERS, MINUTE);
    expect(kept?.ageMs).toBeGreaterThanOrEqual(AGE_MS - 1);
    expect(kept?.ageMs).toBeLessThan(MINUTE);
    expect(await look(two, AGE_MS / 2)).toBeNull();
    expect(await look(two, MINUTE, { ...PARTNERS, name: 'of another user' })).toBeNull();
  });

  test('callers of an answer share its bytes', async () => {
    await keep(one, 'all');
    const [first, second] = await Promise.all([one.find(PARTNERS, MINUTE), one.find(PARTNERS, MINUTE)]);
    expect(second.kept?.answer).toBe(first.kept?.answer);
    await one.drop(PARTNERS.database, null);
    await keep(one, 'new');
    expect(await look(one)).toBe('new');
  });

  test('many simultaneous requests for a large answer do not make Redis appear away', async () => {
    const answers = await open(twoRedis, { bytesMax: 10_000_000 });
    const other = await open(twoRedis, { bytesMax: 10_000_000 });
    await keep(answers, 'x'.repeat(1_000_000));
    const found = await Promise.all(Array.from({ length: 100 }, () => other.find(PARTNERS, MINUTE)));
    expect(new Set(found.map(({ kept }) => kept?.answer.length))).toEqual(new Set([1_000_000]));
    expect(twoRedis.trouble).toBeNull();
  });

  test('an answer expires after the maximum age of its caller, at most an hour', async () => {
    await keep(one, 'short', PARTNERS, 30);
    await expect.poll(() => look(one, 1e12)).toBeNull();
    await keep(one, 'long', PARTNERS, Number.POSITIVE_INFINITY);
    expect(await look(one, Number.POSITIVE_INFINITY)).toBe('long');
    expect(await inspector.pttl(oneRedis.name('answer', PARTNERS.name))).toBeLessThanOrEqual(3_600_000);
    for (const name of await inspector.keys(`${testRedis.prefix}:*`))
      expect(await inspector.pttl(name)).toBeGreaterThan(0);
  });

  test.each([
    ['a write to its model', PARTNERS.database, PARTNERS.model, null],
    ['a call that may write to any model', PARTNERS.database, null, null],
    ['a write to another model', PARTNERS.database, 'sale.order', 'before'],
    ['a write to another database', 'https://erp.example test', PARTNERS.model, 'before'],
  ])('an answer after %s on another process', async (_what, database, model, expected) => {
    await keep(one, 'before');
    await two.drop(database, model);
    expect(await look(one)).toBe(expected);
  });

  test('an answer from before a write on any process is not kept after it', async () => {
    const moments = [await ask(one), await ask(two)];
    await two.drop(PARTNERS.database, PARTNERS.model);
    for (const moment of moments) one.keep(PARTNERS, moment, MINUTE, Buffer.from('old'));
    expect(await look(one)).toBeNull();
    const during = await ask(one);
    await two.drop(PARTNERS.database, PARTNERS.model);
    await two.drop(PARTNERS.database, null);
    one.keep(PARTNERS, during, MINUTE, Buffer.from('old'));
    expect(await look(one)).toBeNull();
    await keep(one, 'new');
    expect(await look(two)).toBe('new');
  });

  test('an answer is never replaced by an older one, unless its own time is in the future', async () => {
    const slow = await ask(one);
    await pause();
    await keep(two, 'new');
    one.keep(PARTNERS, slow, MINUTE, Buffer.from('old'));
    expect(await look(one)).toBe('new');
    await inspector.hset(oneRedis.name('answer', PARTNERS.name), 'asked', Date.now() + MINUTE);
    await keep(one, 'after the clock jumped back');
    expect(await look(one)).toBe('after the clock jumped back');
  });

  test.each([1, 2])(
    'with concurrent reads and writes on two processes, no read after a write returns older data: seed %i',
    async (seed) => {
      const random = createRandom(seed);
      let isOver = false;
      /** The value in Odoo, and the last value whose write has been reported as done. */
      const value = { committed: 0, reported: 0 };
      let misses = 0;
      const read = async (answers: RedisAnswers) => {
        const { reported } = value;
        const { kept, mark } = await answers.find(PARTNERS, MINUTE);
        if (kept !== null) return expect(Number(Buffer.from(kept.answer))).toBeGreaterThanOrEqual(reported);
        misses++;
        const { committed } = value;
        await pauseAtRandom(random, PAUSE_MS_MAX);
        answers.keep(PARTNERS, { askedMs: 0, writes: 0, mark }, MINUTE, Buffer.from(String(committed)));
      };
      const readRepeatedly = async (answers: RedisAnswers) => {
        while (!isOver) await read(answers);
      };
      const writeRepeatedly = async () => {
        for (let next = 1; next <= countCases(400); next++) {
          void two.drop(PARTNERS.database, PARTNERS.model);
          await pauseAtRandom(random, PAUSE_MS_MAX);
          value.committed = next;
          await pauseAtRandom(random, PAUSE_MS_MAX);
          await two.drop(PARTNERS.database, PARTNERS.model);
          value.reported = next;
        }
        isOver = true;
      };
      await Promise.all([writeRepeatedly(), ...[one, two, one, two].map(readRepeatedly)]);
      expect(misses).toBeGreaterThan(10);
    },
  );

  test('an answer cannot be read in Redis, nor decrypted under another name, time or secret', async () => {
    const withOtherSecret = await open(oneRedis, { secret: randomBytes(32) });
    await keep(one, 'a very private address');
    const held = [];
    for (const name of await inspector.keys(`${testRedis.prefix}:*`))
      held.push(name, await inspector.dumpBuffer(name));
    const entry = oneRedis.name('answer', PARTNERS.name);
    held.push(await inspector.hgetBuffer(entry, 'answer'));
    expect(held.join(' ')).not.toMatch(/private|prod|erp\.example|res\.partner/);
    const asked = Number(await inspector.hget(entry, 'asked'));
    await inspector.hset(entry, 'asked', asked + 1);
    // Waits, because the time of the answer would otherwise be in the future.
    await pause();
    expect(await look(one)).toBeNull();
    await inspector.hset(entry, 'asked', asked);
    expect(await look(one)).toBe('a very private address');
    expect(await look(withOtherSecret)).toBeNull();
    const other = { ...PARTNERS, name: 'of another user' };
    await inspector.copy(entry, oneRedis.name('answer', other.name));
    expect(await look(one, MINUTE, other)).toBeNull();
  });

  test('an answer that cannot be decrypted is replaced by the next one', async () => {
    const other = await open(twoRedis);
    await keep(one, 'before');
    await inspector.hset(oneRedis.name('answer', PARTNERS.name), 'answer', randomBytes(100));
    expect(await look(two)).toBeNull();
    await keep(two, 'after');
    expect(await look(two)).toBe('after');
    await inspector.hset(oneRedis.name('answer', PARTNERS.name), 'answer', 'short');
    expect(await look(other)).toBeNull();
    expect(twoRedis.trouble).toBeNull();
  });

  test('the total size is bounded; answers that expire first are removed first', async () => {
    const answers = await open(oneRedis, { bytesMax: 20_000 });
    const scopes = Array.from({ length: 10 }, (_, index) => ({ ...PARTNERS, name: `read ${index}` }));
    for (const [index, scope] of scopes.entries())
      await keep(answers, 'x'.repeat(4000), scope, MINUTE - (index % 2) * 30_000);
    const found = await Promise.all(scopes.map((scope) => look(answers, MINUTE, scope)));
    // There is room for three answers. Those that expire later stay.
    expect(found.flatMap((text, index) => (text === null ? [] : [index]))).toEqual([6, 8, 9]);
    expect(await inspector.keys(`${testRedis.prefix}:answer:*`)).toHaveLength(3);
    await keep(answers, 'x'.repeat(20_001), { ...PARTNERS, name: 'too big' });
    expect(await look(answers, MINUTE, { ...PARTNERS, name: 'too big' })).toBeNull();
    expect(await inspector.zcard(oneRedis.name('ends'))).toBe(3);
  });

  test('an answer that is kept again counts once, and expired answers do not count', async () => {
    const answers = await open(oneRedis, { bytesMax: 12_000 });
    const other = { ...PARTNERS, name: 'other' };
    await keep(answers, 'x'.repeat(4000), other);
    for (let round = 0; round < 5; round++) {
      await keep(answers, 'x'.repeat(4000), PARTNERS, 20);
      await expect.poll(() => look(answers, 1e12)).toBeNull();
    }
    expect(await look(answers, MINUTE, other)).not.toBeNull();
    expect(Number(await inspector.hget(oneRedis.name('sizes'), ''))).toBeLessThanOrEqual(12_000);
  });

  test.each(['ends', 'sizes', 'marks', 'answer'])('works after Redis has lost %s', async (lost) => {
    const answers = await open(oneRedis, { bytesMax: 20_000 });
    await keep(answers, 'before');
    await inspector.del(oneRedis.name(...(lost === 'answer' ? ['answer', PARTNERS.name] : [lost])));
    const kept = await look(answers);
    expect(kept).toBe(lost === 'ends' || lost === 'sizes' ? 'before' : null);
    await two.drop(PARTNERS.database, PARTNERS.model);
    await keep(answers, 'after');
    expect(await look(two)).toBe('after');
    expect(await inspector.zcard(oneRedis.name('ends'))).toBe(1);
    expect(await inspector.hlen(oneRedis.name('sizes'))).toBe(2);
  });

  test('marks of made-up models do not use up the memory', async () => {
    const marks = oneRedis.name('marks');
    await inspector.hset(
      marks,
      Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`mark ${n}`, '1'])),
    );
    await keep(one, 'kept');
    expect(await look(one)).toBe('kept');
    expect(await inspector.hlen(marks)).toBe(2);
  });

  test('a find after a write stays after it where Redis has lost the script of the write', async () => {
    const other = await open(await testRedis.connect());
    await keep(one, 'before');
    await one.drop('https://erp.example test', null);
    await inspector.script('FLUSH');
    await look(other);
    const isDropped = one.drop(PARTNERS.database, PARTNERS.model);
    expect(await look(one)).toBeNull();
    await isDropped;
  });

  test('while Redis is away no answer is found and no write waits; after it all are dropped', async () => {
    await keep(one, 'before');
    const moment = await ask(one, { ...PARTNERS, name: 'another' });
    testRedis.wire.cut();
    await expect.poll(() => oneRedis.trouble).not.toBeNull();
    expect(await look(one)).toBeNull();
    await one.drop(PARTNERS.database, PARTNERS.model);
    one.keep({ ...PARTNERS, name: 'another' }, moment, MINUTE, Buffer.from('old'));
    expect(await look(two)).toBe('before');
    testRedis.wire.restore();
    await expect.poll(() => oneRedis.trouble).toBeNull();
    expect(await look(one)).toBeNull();
    expect(await look(two)).toBeNull();
  });

  test('a process that starts drops all answers, because it may have missed a write before', async () => {
    await keep(one, 'before');
    testRedis.wire.cut();
    await expect.poll(() => oneRedis.trouble).not.toBeNull();
    await one.drop(PARTNERS.database, PARTNERS.model);
    expect(await look(two)).toBe('before');
    await oneRedis.close();
    const restarted = await open(await testRedis.connect());
    expect(await look(restarted)).toBeNull();
    expect(await look(two)).toBeNull();
  });

  test('after a restore or failover to a state before a write, no answer from then is returned', async () => {
    await keep(one, 'before');
    const copies = [oneRedis.name('marks'), oneRedis.name('answer', PARTNERS.name)].map(
      async (name) => [name, await inspector.dumpBuffer(name)] as const,
    );
    await Promise.all(copies);
    await one.drop(PARTNERS.database, PARTNERS.model);
    testRedis.wire.cut();
    await expect.poll(() => oneRedis.trouble).not.toBeNull();
    for (const [name, copy] of await Promise.all(copies))
      await inspector.restore(name, MINUTE, copy, 'REPLACE');
    expect(await look(two)).toBe('before');
    testRedis.wire.restore();
    await expect.poll(() => oneRedis.trouble).toBeNull();
    expect(await look(one)).toBeNull();
  });

  test('a Redis that answers too late soon counts as a miss', async () => {
    const redis = await testRedis.connect(testRedis.wire.url);
    const answers = await open(redis);
    await keep(one, 'before');
    testRedis.wire.freeze();
    const waitedMs = await measureMs(async () => expect(await look(answers)).toBeNull());
    expect(waitedMs).toBeGreaterThanOrEqual(WIRE_TIMEOUT_MS - 1);
    await answers.drop(PARTNERS.database, PARTNERS.model);
    expect(redis.trouble).toMatch(/no answer within 1000 ms/);
    testRedis.wire.restore();
    await expect.poll(() => redis.trouble).toBeNull();
    expect(await look(answers)).toBeNull();
  });

  test('a clock that is set back makes no answer newer', async () => {
    await keep(one, 'before');
    const entry = oneRedis.name('answer', PARTNERS.name);
    await inspector.hset(entry, 'asked', Date.now() + 3_600_000);
    expect(await look(one)).toBeNull();
  });
});
