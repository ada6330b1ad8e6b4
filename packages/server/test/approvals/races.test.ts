/**
 * Tests approvals while everything changes at once: callers that leave, a slow store, an Odoo that fails, a policy that
 * is replaced. The call never runs twice, and a call whose approval is still usable has never run.
 */
import { request as httpRequest } from 'node:http';
import { expect, test } from 'vitest';
import { countCases } from '../random-cases.ts';
import { answerLikeOdoo, printResult, ROLLED_BACK } from '../scripted-upstream.ts';
import { createRandom } from '../seeded-random.ts';
import { pauseAtRandom, runLater } from '../time.ts';
import { readOutcome, startApprover } from './approver.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const ROUNDS = countCases(60);
/** Minimum number of approvals that are used in all rounds. */
const USED_MIN = ROUNDS / 4;
/** Usually more than a third of the approvals is used, so this number of rounds suffices for any seed. */
const ROUNDS_MAX = 5 * ROUNDS;
/** Calls and changes overlap in all orders if all steps take about the same time. */
const STEP_MS = 4;

test(`no call runs twice in ${ROUNDS} random rounds or more (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  /** By id of a record: how often the call for it ran, as Odoo would commit it. */
  const runs = new Map<number, number>();
  const readId = (body: Buffer) => Number(/\[\[(\d+)\]\]/.exec(`${body}`)?.[1]);
  const approver = await startApprover({
    settings: { 'approvals.clientMax': '1000' },
    async script(socket, { body }) {
      const id = readId(body);
      const fate = isCalm ? 1 : random();
      if (fate < 0.25) return answerLikeOdoo(socket, ROLLED_BACK);
      runs.set(id, (runs.get(id) ?? 0) + 1);
      await pauseAtRandom(random, STEP_MS);
      if (fate < 0.4) socket.destroy();
      else answerLikeOdoo(socket, printResult('true'));
    },
  });
  const { app, proxy, admin, ask, callWith, client, policyOf, unlink } = approver;
  let isCalm = true;
  for (const name of ['findOf', 'claim', 'release', 'ask'] as const) {
    const original = app.store.approvals[name] as (...given: unknown[]) => unknown;
    Object.assign(app.store.approvals, {
      [name]: async (...given: unknown[]) => {
        if (!isCalm) await pauseAtRandom(random, STEP_MS);
        const result = await original(...given);
        if (!isCalm) await pauseAtRandom(random, STEP_MS);
        return result;
      },
    });
  }
  const setPolicy = async (changes: object) => {
    const { version = 0 } = (await app.keys.find(client.id)) ?? {};
    return await app.keys.update(client.id, version, { policy: policyOf(changes) });
  };
  const POLICIES = [{}, { concurrency: 50 }, { models: { 'res.partner': ['*'] } }, { companies: [1] }];

  function callAndLeave(id: number, approval: string, leaveAfterMs: number | null): Promise<void> {
    return new Promise((resolve) => {
      const request = httpRequest(`${proxy.url}/api/erp/execute`, {
        method: 'POST',
        agent: false,
        headers: {
          'x-proxy-api': client.key,
          'content-type': 'application/json',
          'x-approval': approval,
          ...(random() < 0.3 ? { 'idempotency-key': `${id}` } : {}),
        },
      });
      request.on('response', (response) => response.resume().on('close', resolve));
      request.on('error', () => resolve());
      request.end(JSON.stringify(unlink({ params: [[id]] })));
      if (leaveAfterMs !== null) runLater(leaveAfterMs, () => request.destroy());
    });
  }

  const ends = { approved: 0, used: 0 };
  const isEnough = () => ends.approved > 0 && ends.used > USED_MIN;
  for (let id = 1; id <= ROUNDS || (id <= ROUNDS_MAX && !isEnough()); id++) {
    const approval = await ask(unlink({ params: [[id]] }));
    await admin.approveCall(approval);
    isCalm = false;
    await Promise.all([
      ...Array.from({ length: 4 }, async () => {
        await pauseAtRandom(random, 2 * STEP_MS);
        await callAndLeave(id, approval, random() < 0.5 ? random() * 6 * STEP_MS : null);
      }),
      ...Array.from({ length: 2 }, async () => {
        await pauseAtRandom(random);
        await setPolicy(POLICIES[Math.floor(random() * POLICIES.length)] as object);
      }),
    ]);
    isCalm = true;
    expect(await setPolicy({ rate: { requests: 1000 + id, seconds: 1 } })).toBe('done');
    // Attempts whose callers have left end on their own.
    const readInFlight = async () =>
      /^erp_proxy_requests_in_flight (\d+)$/m.exec(await (await fetch(`${proxy.url}/metrics`)).text())?.[1];
    await expect.poll(readInFlight).toBe('0');
    const { state } = await admin.getApproval(approval);
    const ran = runs.get(id) ?? 0;
    expect(ran, `round ${id}`).toBeLessThanOrEqual(1);
    expect(['approved', 'used']).toContain(state);
    if (state === 'approved') expect(ran, `round ${id}`).toBe(0);
    ends[state as 'approved' | 'used']++;
    const last = await callWith(approval, unlink({ params: [[id]] }));
    expect(readOutcome(last)).toBe(state === 'approved' ? 'ok' : 'policy_denied');
    expect(runs.get(id) ?? 0).toBe(state === 'approved' ? 1 : ran);
  }
  expect(ends.approved).toBeGreaterThan(0);
  expect(ends.used).toBeGreaterThan(USED_MIN);
});

test('a policy that is narrowed while the approval is being used denies the call, and the approval is returned', async () => {
  const { app, ask, admin, callWith, client, policyOf, upstream } = await startApprover();
  const id = await ask();
  await admin.approveCall(id);
  const { approvals } = app.store;
  const { claim } = approvals;
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  Object.assign(approvals, {
    claim: async (given: Parameters<typeof claim>[0]) => {
      const result = await claim(given);
      reached.resolve();
      await held.promise;
      return result;
    },
  });
  const called = callWith(id);
  await reached.promise;
  expect((await admin.getApproval(id)).state).toBe('used');
  await app.keys.update(client.id, 1, { policy: policyOf({ models: { 'res.partner': ['*'] } }) });
  held.resolve();
  expect((await called).json.error.data).toMatchObject({ type: 'policy_denied', rule: 'models' });
  expect((await admin.getApproval(id)).state).toBe('approved');
  expect(upstream.requests).toHaveLength(0);
});

test('a call that waits for its permit needs an approval if the policy asks for one meanwhile', async () => {
  let release = () => {};
  const { app, call, client, policyOf, unlink, upstream } = await startApprover({
    policy: { approve: { none: ['*'] } },
    settings: { 'upstream.concurrency': '1' },
    script: (socket, _, index) => {
      if (index === 0) release = () => answerLikeOdoo(socket, printResult('true'));
      else answerLikeOdoo(socket, printResult('true'));
    },
  });
  const first = call(unlink({ params: [[1]] }));
  await expect.poll(() => upstream.requests.length).toBe(1);
  const waiting = call(unlink({ params: [[2]] }));
  await expect.poll(() => app.databaseLimiters.states()[0]?.waiting).toBe(1);
  await app.keys.update(client.id, 1, { policy: policyOf({ approve: { '*': ['unlink'] } }) });
  release();
  expect(readOutcome(await first)).toBe('ok');
  expect(readOutcome(await waiting)).toBe('approval_required');
  expect(upstream.requests).toHaveLength(1);
});
