import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import type { Client, Keys } from '../../keys/keys.ts';
import { compilePolicy } from '../../policy/compile.ts';
import type { Body } from '../../subscriptions/row.ts';
import { type CheckReading, createDeliveryJudge } from './judge-delivery.ts';

const POLICY: Policy = {
  instances: ['prod'],
  models: { 'res.partner': ['search_read'] },
  data: ['subscriptions'],
};
const RESTRICTED: Policy = { ...POLICY, fields: { 'res.partner': { deny: ['vat'] } } };
const data = { instance: 'prod', model: 'res.partner', record: { id: 7, name: 'Ann' } };
const DAY_MS = 86_400_000;
const DELIVERY = { seq: 1, id: 'd', record: '7', type: 't', attempts: 1, body: JSON.stringify({ data }) };

/** A judge for a key whose policy can be changed. Odoo says what `check` does. */
function createJudge(check: CheckReading) {
  const stage = { policy: RESTRICTED, nowMs: 0 };
  const findClient = async () =>
    ({ key: { revokedAt: null, expiresAt: null }, policy: compilePolicy(stage.policy) }) as Client;
  const keys: Pick<Keys, 'findClient'> = { findClient };
  const judge = createDeliveryJudge({ keys, check, clock: () => 0, nowMs: () => stage.nowMs });
  const subscription = { key: 'k', domain: [] as unknown[] } as Body;
  return Object.assign(stage, {
    judge: () => judge(subscription, DELIVERY, new AbortController().signal),
  });
}

test('Odoo is asked once, and again after it has refused, and after a day', async () => {
  const answers = [{ problem: 'away', isKeyOver: false }, null];
  let asked = 0;
  const stage = createJudge(async () => answers[asked++] ?? null);
  const { judge } = stage;
  expect(await judge()).toBe('away');
  expect(await Promise.all([judge(), judge()])).toEqual([null, null]);
  expect(await judge()).toBeNull();
  stage.nowMs = DAY_MS - 1;
  expect(await judge()).toBeNull();
  expect(asked).toBe(2);
  stage.nowMs = DAY_MS + 1;
  expect(await judge()).toBeNull();
  expect(asked).toBe(3);
});

test('what Odoo has said under other rules is not remembered', async () => {
  const stage = createJudge(async () =>
    stage.policy === POLICY ? null : { problem: 'denied', isKeyOver: false },
  );
  const { judge } = stage;
  const first = judge();
  // The key is read again for the check.
  stage.policy = POLICY;
  expect(await first).toBeNull();
  stage.policy = RESTRICTED;
  expect(await judge()).toBe('denied');
});
