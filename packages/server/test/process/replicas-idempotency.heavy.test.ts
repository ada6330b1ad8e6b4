/** Tests idempotency keys that several processes share in one Redis. */
import { spawnSync } from 'node:child_process';
import { createTestSchema, type TestSchema } from '@erp-proxy/stores/testing';
import { startTestServer, type TestServer } from '@erp-proxy/traffic/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { send } from '../harness.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { makeFolder, makeKey, type Server, startServer } from './program.ts';

const POSTGRES_URL = process.env['TEST_POSTGRES_URL'] ?? '';
const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;
const COUNT = 4;

/** Skipped without PostgreSQL, or without a redis-server to start. */
describe.skipIf(POSTGRES_URL === '' || !HAS_REDIS)('four processes with idempotency.store: redis', () => {
  let schema: TestSchema;
  let redis: TestServer;
  let upstream: ScriptedUpstream;
  let replicas: Server[];
  let key: string;
  /** Odoo answers when this promise resolves. */
  let mayAnswer: Promise<void>;

  beforeEach(async () => {
    mayAnswer = Promise.resolve();
    [schema, redis, upstream] = await Promise.all([
      createTestSchema(POSTGRES_URL),
      startTestServer(),
      startUpstream(async (socket, _, index) => {
        await mayAnswer;
        answerLikeOdoo(socket, printResult(`${index + 1}`));
      }),
    ]);
    const args = [
      `--store.url=${schema.url}`,
      `--redis.url=${redis.url}`,
      '--idempotency.store=redis',
      `--egress.allow=${upstream.url}`,
      '--upstream.protocol=jsonrpc',
    ];
    replicas = await Promise.all(
      Array.from({ length: COUNT }, () => startServer(args, { folder: makeFolder() })),
    );
    key = await makeKey(replicas[0] as Server);
  });
  afterEach(async () => {
    for (const replica of replicas) replica.kill('SIGKILL');
    await Promise.all(replicas.map(({ ended }) => ended));
    await upstream.close();
    await redis.kill();
    await schema.drop();
  });

  async function create({ url }: Server, timeoutSeconds = 15) {
    const answer = await send(`${url}/api/erp/execute`, {
      method: 'POST',
      headers: {
        'x-proxy-api': key,
        'content-type': 'application/json',
        'idempotency-key': 'order-1',
        'x-request-timeout': String(timeoutSeconds),
      },
      body: JSON.stringify(makeCall(upstream.url, { action: 'create', params: [{ name: 'Once' }] })),
    });
    const { result, error } = JSON.parse(answer.body.toString());
    return { result, code: error?.code, replayed: answer.headers['idempotency-replayed'] };
  }

  const callAll = () => Promise.all(replicas.map((replica) => create(replica)));

  test('run a call once that all of them receive at once with one key, and all return its answer to retries', async () => {
    for (const { result, code } of await callAll()) expect(result === 1 || code === -32014).toBe(true);
    const again = await callAll();
    expect(again).toEqual(Array(COUNT).fill({ result: 1, code: undefined, replayed: 'true' }));
    expect(upstream.requests).toHaveLength(1);
    expect(await schema.query('SELECT id FROM idempotency_keys')).toEqual([]);
  });

  test('report the outcome of a call as unknown after its process was killed, and do not run it again', {}, async () => {
    mayAnswer = new Promise(() => {});
    const [first, ...others] = replicas as [Server, ...Server[]];
    const lost = create(first, 4).catch(() => 'lost');
    await expect.poll(() => upstream.requests.length).toBe(1);
    first.kill('SIGKILL');
    expect(await lost).toBe('lost');
    for (const other of others) {
      // The lost attempt counts as running until its time is over.
      expect([-32014, -32015]).toContain((await create(other)).code);
      await expect.poll(async () => (await create(other)).code).toBe(-32015);
    }
    expect(upstream.requests).toHaveLength(1);
  });
});
