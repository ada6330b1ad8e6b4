import type { Policy } from '@erp-proxy/contract';
import type { Client, Keys } from '@erp-proxy/control/keys';
import { compilePolicy } from '@erp-proxy/policy';
import { expect, test } from 'vitest';
import type { Body } from '../row.ts';
import { type CheckReading, createDeliveryCheck } from './check-delivery.ts';

const POLICY: Policy = {
  instances: ['prod'],
  models: { 'res.partner': ['search_read'] },
  data: ['subscriptions'],
};
const RESTRICTED: Policy = { ...POLICY, fields: { 'res.partner': { deny: ['vat'] } } };
const data = { instance: 'prod', model: 'res.partner', record: { id: 7, name: 'Ann' } };
const DAY_MS = 86_400_000;
const DELIVERY = { seq: 1, id: 'd', record: '7', type: 't', attempts: 1, body: JSON.stringify({ data }) };

/** A check for a key whose policy can be changed. `checkReading` stands for Odoo's answers. */
function createCheck(checkReading: CheckReading) {
  const stage = { policy: RESTRICTED, nowMs: 0 };
  const findClient = async () =>
    ({ key: { revokedAt: null, expiresAt: null }, policy: compilePolicy(stage.policy) }) as Client;
  const keys: Pick<Keys, 'findClient'> = { findClient };
  const check = createDeliveryCheck({ keys, check: checkReading, clock: () => 0, nowMs: () => stage.nowMs });
  const subscription = { key: 'k', domain: [] as unknown[] } as Body;
  return Object.assign(stage, {
    check: () => check(subscription, DELIVERY, new AbortController().signal),
  });
}

test('Odoo is asked once, and again after it has refused, and after a day', async () => {
  const answers = [{ problem: 'away', isKeyOver: false }, null];
  let asked = 0;
  const stage = createCheck(async () => answers[asked++] ?? null);
  const { check } = stage;
  expect(await check()).toBe('away');
  expect(await Promise.all([check(), check()])).toEqual([null, null]);
  expect(await check()).toBeNull();
  stage.nowMs = DAY_MS - 1;
  expect(await check()).toBeNull();
  expect(asked).toBe(2);
  stage.nowMs = DAY_MS + 1;
  expect(await check()).toBeNull();
  expect(asked).toBe(3);
});

test('what Odoo has said under other rules is not remembered', async () => {
  const stage = createCheck(async () =>
    stage.policy === POLICY ? null : { problem: 'denied', isKeyOver: false },
  );
  const { check } = stage;
  const first = check();
  // The policy changes before the check reads the key again.
  stage.policy = POLICY;
  expect(await first).toBeNull();
  stage.policy = RESTRICTED;
  expect(await check()).toBe('denied');
});
