/** Tests docs/fleet.md: what keys may do on many instances, and the limits that hold. */
import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { answerLikeOdoo, printResult, ROLLED_BACK } from '../scripted-upstream.ts';
import { COUNT, startFleetStage } from './fleet-stage.ts';

const CLIENTS = { 'client-a': ['live'], 'client-b': ['live'], secret: ['live', 'hidden'] };
const WRITE = { action: 'write', model_id: 'res.partner', params: [[1], { name: 'x' }] };

test('instances that the policy does not name do not exist for the key', async () => {
  const { fleet, createKey, called } = await startFleetStage({ instances: CLIENTS });
  const headers = { 'x-proxy-api': await createKey({ instances: ['client-*'] }) };
  for (const choice of [{ instances: ['*'] }, { tags: ['live'] }]) {
    const { byName } = await fleet({ call: COUNT, ...choice }, headers);
    expect(Object.keys(byName).sort()).toEqual(['client-a', 'client-b']);
  }
  const unknown = async (choice: object) => (await fleet({ call: COUNT, ...choice }, headers)).error;
  const hide = (text: string) => text.replaceAll(/"[^"]*"/g, '""');
  const [named, missing] = [
    await unknown({ instances: ['secret'] }),
    await unknown({ instances: ['secrex'] }),
  ];
  expect(hide(named.message)).toBe(hide(missing.message));
  expect((await unknown({ tags: ['hidden'] })).message).toBe(
    'No instance that this key may use has the tag "hidden".',
  );
  expect(called).not.toContain('secret');
});

test('only reads, unless the policy says that fleet calls may write', async () => {
  const { fleet, createKey, called } = await startFleetStage({
    instances: CLIENTS,
    script: (_db, socket) => answerLikeOdoo(socket, printResult('true')),
  });
  const body = { call: WRITE, instances: ['client-*'] };
  for (const key of [null, await createKey({}), await createKey({ fleet: 'read' })]) {
    const { status, error } = await fleet(body, key === null ? {} : { 'x-proxy-api': key });
    expect({ status, ...error.data }).toMatchObject({ status: 403, type: 'policy_denied', rule: 'fleet' });
  }
  expect(called).toEqual([]);
  const { counts } = await fleet(body, { 'x-proxy-api': await createKey({ fleet: 'write' }) });
  expect(counts).toEqual({ done: 2, failed: 0, skipped: 0 });
  const readOnly = await createKey({ fleet: 'write', read_only: true });
  expect((await fleet(body, { 'x-proxy-api': readOnly })).error.data.rule).toBe('read_only');
});

test('what the policy denies for the call is one error, and nothing is sent', async () => {
  const { fleet, createKey, called } = await startFleetStage({ instances: CLIENTS });
  const key = await createKey({ models: { 'res.country': ['*'] } });
  const { status, error } = await fleet({ call: COUNT, instances: ['*'] }, { 'x-proxy-api': key });
  expect({ status, rule: error.data.rule }).toEqual({ status: 403, rule: 'models' });
  expect(called).toEqual([]);
});

test('calls that need an approval are errors of their instances', async () => {
  const { fleet, createKey, called } = await startFleetStage({ instances: CLIENTS });
  const key = await createKey({ fleet: 'write', approve: { 'res.partner': ['write'] } });
  const { counts, byName } = await fleet({ call: WRITE, instances: ['client-*'] }, { 'x-proxy-api': key });
  expect(counts).toEqual({ done: 0, failed: 2, skipped: 0 });
  expect(byName['client-a']?.error.data).toMatchObject({ type: 'policy_denied' });
  expect(called).toEqual([]);
});

test('each instance counts for the calls of the day, and those beyond it are skipped', async () => {
  const { fleet, createKey, called } = await startFleetStage({ instances: CLIENTS });
  const headers = { 'x-proxy-api': await createKey({ per_day: 2 }) };
  const { counts, lines } = await fleet({ call: COUNT, instances: ['*'] }, headers);
  expect(counts).toEqual({ done: 2, failed: 0, skipped: 1 });
  expect(lines.find(({ error }) => error !== undefined)?.error.data.type).toBe('rate_limited');
  expect(called).toHaveLength(2);
  expect((await fleet({ call: COUNT, instances: ['*'] }, headers)).status).toBe(429);
});

test('waits for the rate of the key', async () => {
  const { fleet, createKey } = await startFleetStage({ instances: CLIENTS });
  const headers = { 'x-proxy-api': await createKey({ rate: { requests: 2, seconds: 1 } }) };
  const { counts } = await fleet({ call: COUNT, instances: ['*'] }, headers);
  expect(counts).toEqual({ done: 3, failed: 0, skipped: 0 });
});

test('never more calls at once than the concurrency of the key', async () => {
  let [running, most] = [0, 0];
  const { fleet, createKey } = await startFleetStage({
    instances: Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`c${index}`, []])),
    script(_db, socket) {
      most = Math.max(most, ++running);
      setImmediate(() => {
        running--;
        answerLikeOdoo(socket, printResult('1'));
      });
    },
  });
  const headers = { 'x-proxy-api': await createKey({ concurrency: 2 }) };
  const { counts } = await fleet({ call: COUNT, instances: ['*'] }, headers);
  expect(counts.done).toBe(9);
  expect(most).toBeLessThanOrEqual(2);
  // The room is given back.
  expect((await fleet({ call: COUNT, instances: ['*'] }, headers)).counts.done).toBe(9);
});

test('an idempotency key holds for each instance: a retry runs only what has not run', async () => {
  let isDown = true;
  const { fleet, createKey, called } = await startFleetStage({
    instances: { 'client-a': [], 'client-b': [] },
    settings: { 'upstream.retries': '0' },
    script: (db, socket) =>
      db === 'client-b' && isDown
        ? answerLikeOdoo(socket, ROLLED_BACK)
        : answerLikeOdoo(socket, printResult('true')),
  });
  const headers = { 'x-proxy-api': await createKey({ fleet: 'write' }), 'idempotency-key': 'once' };
  const body = { call: WRITE, instances: ['*'] };
  expect((await fleet(body, headers)).counts).toEqual({ done: 1, failed: 1, skipped: 0 });
  isDown = false;
  expect((await fleet(body, headers)).counts).toEqual({ done: 2, failed: 0, skipped: 0 });
  expect(called.toSorted()).toEqual(['client-a', 'client-b', 'client-b']);
});

test('a right that is withdrawn while a call waits is not used', async () => {
  const held: (() => void)[] = [];
  const { fleet, proxy, called } = await startFleetStage({
    instances: { 'client-a': [], 'client-b': [] },
    script: (_db, socket) => void held.push(() => answerLikeOdoo(socket, printResult('true'))),
  });
  const policy: Policy = { instances: ['*'], models: { 'res.partner': ['*'] }, fleet: 'write' };
  const { key, record } = await proxy.app.keys.create({ name: 'x', policy });
  const reply = fleet({ call: WRITE, instances: ['*'], concurrency: 1 }, { 'x-proxy-api': key });
  await expect.poll(() => called).toEqual(['client-a']);
  await proxy.app.keys.update(record.id, record.version, { policy: { ...policy, fleet: 'read' } });
  held[0]?.();
  const { counts, byName } = await reply;
  expect(counts).toEqual({ done: 1, failed: 1, skipped: 0 });
  expect(byName['client-b']?.error.data).toMatchObject({ type: 'policy_denied', rule: 'fleet' });
  expect(called).toEqual(['client-a']);
});

test('a write whose caller has left ends with the time limit of the request', async () => {
  const { open, createKey, called, upstream } = await startFleetStage({
    instances: { 'client-a': [] },
    script: () => {},
  });
  const headers = {
    'x-proxy-api': await createKey({ fleet: 'write' }),
    'idempotency-key': 'once',
    'x-request-timeout': '1',
  };
  const response = await open({ call: WRITE, instances: ['*'] }, headers);
  await expect.poll(() => called).toEqual(['client-a']);
  response.destroy();
  await expect.poll(() => upstream.sockets.size).toBe(0);
});
