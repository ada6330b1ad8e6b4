import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { monotonicMs } from '../../../server/test/time.ts';
import { createAnswerSeal } from '../idempotency/answer-seal.ts';
import { RedisAnswers } from './answers.ts';
import { RedisClient } from './client.ts';
import { createRedisIdempotency } from './idempotency.ts';
import { startTestServer, type TestServer } from './redis.fixture.ts';
import { SharedKeyLimits } from './shared-key-limits.ts';

const HAS_SERVER = spawnSync('redis-server', ['--version']).status === 0;
const key = { id: 'a', policy: { rate: { requests: 1, seconds: 100_000, burst: 10 } } };

/** Tests that cannot share a server with others. Skipped without the program redis-server. */
describe.skipIf(!HAS_SERVER)('on a separate server', () => {
  let server: TestServer;
  let redis: RedisClient;
  let limits: SharedKeyLimits;
  let troubles: (string | null)[];

  beforeEach(async () => {
    server = await startTestServer();
    troubles = [];
    open(server.url);
    await redis.start();
  });
  afterEach(async () => {
    await redis.close();
    await server.kill();
  });

  function open(url: string): void {
    redis = new RedisClient({
      url,
      prefix: 'test',
      answerTimeoutMs: 2_500,
      onTrouble: (trouble) => troubles.push(trouble),
    });
    limits = new SharedKeyLimits({ redis, nowMs: monotonicMs, clock: Date.now });
  }

  test.each([
    ['is full', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0'], /^OOM/],
    ['only reads after a failover', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE'], /^READONLY/],
  ])(
    'calls continue when Redis %s, and are counted in Redis afterwards',
    async (_what, harm, restore, message) => {
      expect(await limits.admitMore(key, 2)).toMatchObject({ ok: true, rate: { remaining: 8 } });
      await server.command(...harm);
      expect(await limits.admitMore(key, 3)).toMatchObject({ ok: true, rate: { remaining: 5 } });
      expect(redis.trouble).toMatch(message);
      await server.command(...restore);
      await expect.poll(() => redis.trouble).toBeNull();
      expect(await limits.admitMore(key, 1)).toMatchObject({ ok: true, rate: { remaining: 4 } });
      expect(troubles).toEqual([null, expect.stringMatching(message), null]);
    },
  );

  test('a Redis that was restarted without its data is used again automatically', async () => {
    expect((await limits.admitMore(key, 2)).ok).toBe(true);
    await server.kill();
    expect(await limits.admitMore(key, 3)).toMatchObject({ ok: true, rate: { remaining: 5 } });
    await server.start();
    await expect.poll(() => redis.trouble).toBeNull();
    // Redis knows only the 3 calls: a loss of data can grant at most one additional burst.
    expect(await limits.admitMore(key, 1)).toMatchObject({ ok: true, rate: { remaining: 6 } });
  });

  test('starts without Redis, and describes the error without the password', async () => {
    await redis.close();
    await server.command('CONFIG', 'SET', 'requirepass', 'right');
    open(server.url.replace('//', '//:very-wrong@'));
    await redis.start();
    expect(await limits.admitMore(key, 3)).toMatchObject({ ok: true, rate: { remaining: 7 } });
    expect(redis.trouble).toMatch(/^(WRONGPASS|NOAUTH)/);
    expect(`${redis.trouble} ${redis.label}`).not.toContain('very-wrong');
  });

  test('a user with the names and commands of docs/replicas.md can run all operations', async () => {
    const docs = readFileSync(new URL('../../../../docs/replicas.md', import.meta.url), 'utf8');
    const [, names = '', commands = ''] = docs.match(/needs `(~\S+)` and the commands `([a-z\s]+)`/) ?? [];
    const rights = ['on', '>secret', names, '-@all', ...commands.split(/\s+/).map((name) => `+${name}`)];
    await server.command('ACL', 'SETUSER', 'proxy', ...rights);
    await redis.close();
    redis = new RedisClient({
      url: server.url.replace('//', '//proxy:secret@'),
      prefix: 'erp-proxy:test',
      answerTimeoutMs: 2_500,
      onTrouble: (trouble) => troubles.push(trouble),
    });
    await redis.start();
    limits = new SharedKeyLimits({ redis, nowMs: monotonicMs, clock: Date.now });
    const limited = { id: 'a', policy: { ...key.policy, concurrency: 2, per_day: 9 } };
    expect(await limits.admit(limited)).toMatchObject({ ok: true });
    limits.release(limited);
    const idempotency = createRedisIdempotency(redis);
    const claim = {
      id: 'a',
      client: 'c',
      fingerprint: 'f',
      attempt: 'one',
      runsForMs: 1000,
      expiresInMs: 1000,
    };
    expect(await idempotency.claim(claim)).toBeNull();
    await idempotency.markUnknown('a', 'one');
    await idempotency.complete('a', 'one', new Uint8Array(1), 1000);
    const secret = randomBytes(32);
    const answers = new RedisAnswers({ redis, secret, seal: createAnswerSeal(secret), bytesMax: 3000 });
    for (const name of ['one', 'two', 'three']) {
      const scope = { name, database: 'prod', model: 'res.partner' };
      const { mark } = await answers.find(scope, 1000);
      answers.keep(scope, { askedMs: 0, writes: 0, mark }, 1000, new Uint8Array(500));
      await expect.poll(async () => (await answers.find(scope, 1000)).kept).not.toBeNull();
    }
    await answers.drop('prod', null);
    expect(troubles).toEqual([null, null]);
  });

  test('takes over another user and password without losing an operation', async () => {
    const setUser = (name: string, secret: string) =>
      server.command('ACL', 'SETUSER', name, 'on', `>${secret}`, '+@all', '~*', '&*');
    const withLogin = (login: string) => server.url.replace('//', `//${login}@`);
    await setUser('former', 'secret1');
    await redis.close();
    open(withLogin('former:secret1'));
    await redis.start();
    await expect(redis.takeLogin(withLogin('former:wrong'))).rejects.toThrow(/^WRONGPASS/);
    await expect(redis.takeLogin(`${withLogin('former:secret1')}/5`)).rejects.toThrow(
      /more than user and password/,
    );
    expect(redis.trouble).toBeNull();
    await setUser('later', 'secret2');
    const running = Array.from({ length: 50 }, (_, at) => redis.run('SET', redis.name(`n${at}`), at));
    await redis.takeLogin(withLogin('later:secret2'));
    await Promise.all(running);
    // Redis closes the connections of a user that is deleted.
    await server.command('ACL', 'DELUSER', 'former');
    expect(String(await redis.run('GET', redis.name('n49')))).toBe('49');
    expect(troubles).not.toContainEqual(expect.any(String));
    // A later connection has the new user, too.
    await server.command('CLIENT', 'KILL', 'USER', 'later');
    await expect.poll(() => troubles.at(-1)).toBeNull();
    await expect.poll(() => redis.trouble).toBeNull();
  });
});
