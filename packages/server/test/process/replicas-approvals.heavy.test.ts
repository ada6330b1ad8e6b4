/**
 * Tests approvals that several processes decide and use at once: on SQLite and on PostgreSQL, with the real program. A
 * process is killed between the use of an approval and the answer of Odoo.
 */

import { createTestSchema } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { countCases, countRounds } from '../random-cases.ts';
import {
  answerLikeOdoo,
  makeCall,
  printResult,
  type ScriptedUpstream,
  startUpstream,
} from '../scripted-upstream.ts';
import { createRandom } from '../seeded-random.ts';
import { pauseAtRandom } from '../time.ts';
import { makeFolder, runProgram, type Server, startServer } from './program.ts';

const POSTGRES_URL = process.env['TEST_POSTGRES_URL'] ?? '';
const TOKEN = 'an-admin-token-of-more-than-32-characters';
const COUNT = 3;
const ROUNDS = countCases(40);
const KILLS = countRounds(4);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

interface Place {
  url: string;
  drop(): Promise<void>;
}

const PLACES: [string, boolean, () => Promise<Place>][] = [
  ['SQLite', false, async () => ({ url: `sqlite:${makeFolder()}/store.db`, drop: async () => {} })],
  ['PostgreSQL', POSTGRES_URL === '', () => createTestSchema(POSTGRES_URL)],
];

describe.each(PLACES)('processes on one store in %s', (_, isSkipped, openPlace) => {
  let place: Place;
  let upstream: ScriptedUpstream;
  let servers: Server[];
  let key: string;
  /** Odoo answers when this promise resolves. */
  let mayAnswer: Promise<void>;

  const start = () =>
    startServer(
      [
        `--store.url=${place.url}`,
        `--egress.allow=${upstream.url}`,
        '--upstream.protocol=jsonrpc',
        `--admin.token=${TOKEN}`,
        '--approvals.clientMax=1000',
      ],
      { folder: makeFolder() },
    );

  beforeEach(async (context) => {
    context.skip(isSkipped, 'TEST_POSTGRES_URL is not set');
    mayAnswer = Promise.resolve();
    place = await openPlace();
    upstream = await startUpstream(async (socket) => {
      await mayAnswer;
      answerLikeOdoo(socket, printResult('true'));
    });
    servers = await Promise.all(Array.from({ length: COUNT }, start));
    key = await createKey();
  });
  afterEach(async () => {
    if (isSkipped) return;
    for (const server of servers) server.kill('SIGKILL');
    await Promise.all(servers.map(({ ended }) => ended));
    await upstream.close();
    await place.drop();
  });

  async function createKey(): Promise<string> {
    const policy = JSON.stringify({
      origins: [upstream.url],
      models: { '*': ['*'] },
      approve: { '*': ['unlink'] },
    });
    const args = ['keys', 'create', '--name=agent', '--policy=-', `--store.url=${place.url}`];
    const { stdout, stderr, status } = await runProgram(args, { folder: makeFolder(), input: policy });
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  }

  async function unlink(server: Server, id: number, approval?: string) {
    const answer = await send(`${server.url}/api/erp/execute`, {
      method: 'POST',
      headers: {
        'x-proxy-api': key,
        'content-type': 'application/json',
        ...(approval === undefined ? {} : { 'x-approval': approval }),
      },
      body: JSON.stringify(makeCall(upstream.url, { action: 'unlink', params: [[id]] })),
    });
    const { result, error } = JSON.parse(answer.body.toString());
    return { result, type: error?.data.type ?? 'ok', approval: error?.data.approval };
  }

  async function decide(server: Server, id: string, how: 'approve' | 'refuse') {
    const { status, body } = await send(`${server.url}/admin/v1/approvals/${id}/${how}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(how === 'refuse' ? { body: '{"reason": "no"}' } : {}),
    });
    return { status, ...JSON.parse(body.toString()) };
  }

  /** How often Odoo got `unlink` of this record. */
  const countRuns = (id: number) =>
    upstream.requests.filter(({ body }) => `${body}`.includes(`"unlink",[[${id}]]`)).length;

  test(`one call runs for each approval, and none for a refusal, in ${ROUNDS} random orders (SEED=${SEED})`, async () => {
    const random = createRandom(SEED);
    const pick = () => servers[Math.floor(random() * COUNT)] as Server;
    const later = () => pauseAtRandom(random);
    let runs = 0;
    for (let round = 1; round <= ROUNDS; round++) {
      const asked = await Promise.all(servers.map((server) => unlink(server, round)));
      const [approval] = asked.map((answer) => answer.approval);
      expect(new Set(asked.map((answer) => answer.approval))).toEqual(new Set([approval]));
      const refusals = random() < 0.3 ? 2 : 0;
      const work = [
        ...Array.from({ length: 3 }, () => async () => void (await decide(pick(), approval, 'approve'))),
        ...Array.from(
          { length: refusals },
          () => async () => void (await decide(pick(), approval, 'refuse')),
        ),
        ...Array.from({ length: 6 }, () => async () => {
          for (let attempt = 0; attempt < 4; attempt++) {
            const { type } = await unlink(pick(), round, approval);
            expect(['ok', 'approval_required', 'policy_denied']).toContain(type);
            if (type !== 'approval_required') return;
            await later();
          }
        }),
      ];
      await Promise.all(work.map((run) => later().then(run)));
      // Whatever the other processes did, a last attempt finds the approval used or refused, or uses it.
      const last = await unlink(pick(), round, approval);
      const count = countRuns(round);
      expect(count).toBeLessThanOrEqual(1);
      if (last.type === 'ok') expect(count).toBe(1);
      expect(last.type).not.toBe('approval_required');
      const again = await decide(pick(), approval, 'approve');
      expect(again.status).toBe(409);
      expect(/^It is (used|refused) by admin\.token/.exec(again.detail)?.[1]).toBe(
        count === 1 ? 'used' : 'refused',
      );
      runs += count;
    }
    expect(runs).toBeGreaterThan(ROUNDS / 4);
    // The other requests read names of records, for the administrator.
    const deletions = upstream.requests.filter(({ body }) => `${body}`.includes('"unlink"'));
    expect(deletions).toHaveLength(runs);
  });

  test('an approval whose process was killed after it sent the call stays used on the others', async () => {
    const [first, ...others] = servers as [Server, ...Server[]];
    const { approval } = await unlink(first, 7);
    expect((await decide(first, approval, 'approve')).status).toBe(200);
    mayAnswer = new Promise(() => {});
    const lost = unlink(first, 7, approval).catch(() => 'lost');
    await expect.poll(() => countRuns(7)).toBe(1);
    first.kill('SIGKILL');
    expect(await lost).toBe('lost');
    servers[0] = await start();
    for (const server of [...others, servers[0]]) {
      expect((await unlink(server, 7, approval)).type).toBe('policy_denied');
    }
    expect(countRuns(7)).toBe(1);
  });

  test('processes that are killed at any moment never run a call twice', async () => {
    const random = createRandom(SEED);
    for (let round = 1; round <= KILLS; round++) {
      const [first, second] = servers as [Server, Server];
      const { approval } = await unlink(second, round);
      await decide(second, approval, 'approve');
      const attempts = servers.map((server) => unlink(server, round, approval).catch(() => null));
      await pauseAtRandom(random);
      first.kill('SIGKILL');
      await Promise.all(attempts);
      servers[0] = await start();
      await Promise.all(servers.map((server) => unlink(server, round, approval)));
      expect(countRuns(round)).toBeLessThanOrEqual(1);
    }
  });
});
