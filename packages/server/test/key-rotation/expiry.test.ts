/** Tests how the expiry of a key is learned, and the warnings before it. */
import { afterEach, describe, expect, test } from 'vitest';
import { CREATED_AT, DAY_MS, HOUR_MS, type RotationHarness, startHarness } from './rotation-harness.ts';

let harness: RotationHarness;
afterEach(() => harness.close());

const readKey = async () => (await harness.instances.get('prod'))?.key;
const END = CREATED_AT + 90 * DAY_MS;

describe('the expiry is learned from Odoo', () => {
  test.each(['jsonrpc', 'json2', 'auto'] as const)('over %s, if the user has one key', async (protocol) => {
    harness = await startHarness({ protocol, rotate: false });
    await harness.openRotation().checkAll();
    expect(await readKey()).toMatchObject({ expiresAt: END, isExpiryKnown: true });
  });

  test.each([18, 22] as const)('version %i', async (version) => {
    harness = await startHarness({ version, rotate: false });
    await harness.openRotation().checkAll();
    expect(await readKey()).toMatchObject({ expiresAt: END, isExpiryKnown: true });
  });

  test('if the other keys are lost keys that the proxy made', async () => {
    harness = await startHarness({ rotate: false });
    const { record, apiKey } = (await harness.instances.openKey('prod')) ?? expect.fail();
    const name = 'erp-proxy prod 2027-01-30T01:30Z';
    const keyword = { key: apiKey, scope: 'rpc', name, expiration_date: '2027-04-01' };
    await harness.ask(record, apiKey, { model: 'res.users.apikeys', method: 'generate', keyword });
    await harness.openRotation().checkAll();
    expect(await readKey()).toMatchObject({ expiresAt: END, isExpiryKnown: true });
  });

  test('of a key that never expires', async () => {
    harness = await startHarness({ keyDays: null });
    const rotation = harness.openRotation();
    await rotation.checkAll();
    expect(await readKey()).toMatchObject({ expiresAt: null, isExpiryKnown: true });
    expect(rotation.states()).toEqual([{ instance: 'prod', state: 'ok', expiresAt: null, failure: null }]);
  });

  test('only once', async () => {
    harness = await startHarness({ rotate: false });
    const rotation = harness.openRotation();
    await rotation.checkAll();
    const { total } = harness.sandbox.requests;
    for (let day = 0; day < 3; day++) {
      harness.advance(DAY_MS);
      await rotation.checkAll();
    }
    expect(harness.sandbox.requests.total).toBe(total);
  });
});

describe('the expiry stays unknown', () => {
  test.each([
    ['on Odoo 16, which has no such date', { version: 16, keyDays: null }],
    ['on Odoo 17, which has no such date', { version: 17, keyDays: null }],
    ['if a password is stored', { apiKey: 'demo' }],
  ] as const)('%s', async (_, options) => {
    harness = await startHarness({ ...options, rotate: false });
    const rotation = harness.openRotation();
    await rotation.checkAll();
    expect(await readKey()).toMatchObject({ expiresAt: null, isExpiryKnown: false, failure: null });
    expect(rotation.states()).toMatchObject([{ state: 'unknown' }]);
  });

  test('if the user has two keys; Odoo is called again a day later', async () => {
    harness = await startHarness({ rotate: false });
    const { record, apiKey } = (await harness.instances.openKey('prod')) ?? expect.fail();
    const keyword = { key: apiKey, scope: 'rpc', name: 'second', expiration_date: '2027-02-01' };
    await harness.ask(record, apiKey, { model: 'res.users.apikeys', method: 'generate', keyword });
    const rotation = harness.openRotation();
    await rotation.checkAll();
    expect(await readKey()).toMatchObject({ isExpiryKnown: false });
    harness.advance(HOUR_MS);
    await rotation.checkAll();
    expect(harness.sandbox.requests.calls['res.users.apikeys.search_read']).toBe(1);
    // After this time, the second key has expired.
    harness.advance(3 * DAY_MS);
    await rotation.checkAll();
    expect(await readKey()).toMatchObject({ expiresAt: END, isExpiryKnown: true });
  });

  test('with a warning once a day if the key should be replaced in time', async () => {
    harness = await startHarness({ version: 17, keyDays: null });
    const rotation = harness.openRotation();
    await rotation.checkAll();
    harness.advance(HOUR_MS);
    await rotation.checkAll();
    expect(harness.events).toEqual([{ kind: 'unknown', instance: 'prod' }]);
  });

  test('while Odoo is unavailable; the next attempt follows within about an hour', async () => {
    harness = await startHarness({ rotate: false });
    let isAway = true;
    const rotation = harness.openRotation({
      ask: async (...question) =>
        isAway ? { kind: 'unanswered', message: 'refused' } : harness.ask(...question),
    });
    await rotation.checkAll();
    expect(await readKey()).toMatchObject({ isExpiryKnown: false, failure: null });
    isAway = false;
    harness.advance(1.2 * HOUR_MS);
    await rotation.checkAll();
    expect(await readKey()).toMatchObject({ isExpiryKnown: true });
  });
});

test("the operator's date takes precedence, and Odoo is not called", async () => {
  const keyExpiresAt = new Date(CREATED_AT + 75 * DAY_MS).toISOString();
  harness = await startHarness({ rotate: false, keyExpiresAt });
  const rotation = harness.openRotation();
  await rotation.checkAll();
  expect(rotation.states()).toMatchObject([{ state: 'expiring', expiresAt: CREATED_AT + 75 * DAY_MS }]);
  expect(harness.sandbox.requests.total).toBe(0);
});

test('a key that expires within 14 days is reported once a day and in the states, also after it expired', async () => {
  harness = await startHarness({ rotate: false, nowDays: 75.9 });
  const rotation = harness.openRotation();
  await rotation.checkAll();
  await rotation.checkAll();
  expect(rotation.states()).toMatchObject([{ state: 'ok' }]);
  expect(rotation.warning()).toBeNull();
  expect(harness.events).toEqual([]);

  harness.advance(0.2 * DAY_MS);
  await rotation.checkAll();
  harness.advance(HOUR_MS);
  await rotation.checkAll();
  expect(rotation.states()).toEqual([{ instance: 'prod', state: 'expiring', expiresAt: END, failure: null }]);
  expect(rotation.warning()).toContain('1 to expire within 14 days');
  expect(harness.events).toEqual([{ kind: 'expiring', instance: 'prod', expiresAt: END }]);

  harness.advance(14 * DAY_MS);
  await rotation.checkAll();
  expect(rotation.states()).toMatchObject([{ state: 'expired' }]);
  expect(rotation.warning()).toContain('1 expired');
  expect(harness.events).toHaveLength(2);
});

test('a removed instance has no state', async () => {
  harness = await startHarness({ rotate: false, nowDays: 80 });
  const rotation = harness.openRotation();
  await rotation.checkAll();
  await harness.instances.remove((await harness.instances.get('prod')) ?? expect.fail());
  await rotation.checkAll();
  expect(rotation.states()).toEqual([]);
  expect(rotation.warning()).toBeNull();
});

test('an instance that was added again under the same name is asked for its expiry at once', async () => {
  harness = await startHarness({ rotate: false });
  const { instances, sandbox } = harness;
  const { record, apiKey } = (await instances.openKey('prod')) ?? expect.fail();
  const keyword = { key: apiKey, scope: 'rpc', name: 'second', expiration_date: '2027-02-01' };
  await harness.ask(record, apiKey, { model: 'res.users.apikeys', method: 'generate', keyword });
  const rotation = harness.openRotation();
  await rotation.checkAll();
  expect(await readKey()).toMatchObject({ isExpiryKnown: false });
  await instances.remove(record);
  const { userId, apiKey: adminKey } = sandbox.users.admin;
  const server = { url: sandbox.url, db: sandbox.db, user_id: userId, api_key: adminKey };
  await instances.add({ name: 'prod', ...server, allow_private: true });
  await rotation.checkAll();
  expect(await readKey()).toMatchObject({ expiresAt: END, isExpiryKnown: true });
});

test('every instance is checked, also beyond one page', async () => {
  harness = await startHarness({ rotate: false });
  const { sandbox, user } = harness;
  for (let nth = 0; nth < 45; nth++) {
    await harness.instances.add({
      name: `shop-${nth}`,
      url: sandbox.url,
      db: sandbox.db,
      user_id: user.userId,
      api_key: user.apiKey,
      allow_private: true,
    });
  }
  const rotation = harness.openRotation();
  await rotation.checkAll();
  expect(rotation.states()).toHaveLength(46);
  expect(rotation.states().every(({ expiresAt }) => expiresAt === END)).toBe(true);
});

test('checks run by themselves from start to close', async () => {
  harness = await startHarness({ rotate: false });
  const rotation = harness.openRotation();
  rotation.start();
  await expect.poll(readKey).toMatchObject({ isExpiryKnown: true });
  await rotation.close();
  expect(harness.errors).toEqual([]);
});
