/** What is known of a key's end, and how it is told before it comes. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { CREATED_AT, DAY_MS, HOUR_MS, openStage, type Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const readKey = async () => (await stage.instances.get('prod'))?.key;
const END = CREATED_AT + 90 * DAY_MS;

describe('is learned from Odoo', () => {
  test.each(['jsonrpc', 'json2', 'auto'] as const)(
    'over %s, where the user has one key',
    async (protocol) => {
      stage = await openStage({ protocol, rotate: false });
      await stage.openCare().look();
      expect(await readKey()).toMatchObject({ expiresAt: END, isExpiryKnown: true });
    },
  );

  test.each([18, 22] as const)('by %i', async (version) => {
    stage = await openStage({ version, rotate: false });
    await stage.openCare().look();
    expect(await readKey()).toMatchObject({ expiresAt: END, isExpiryKnown: true });
  });

  test('where the other keys are lost ones that the proxy made', async () => {
    stage = await openStage({ rotate: false });
    const { record, apiKey } = (await stage.instances.openKey('prod')) ?? expect.fail();
    const name = 'erp-proxy prod 2027-01-30T01:30Z';
    const keyword = { key: apiKey, scope: 'rpc', name, expiration_date: '2027-04-01' };
    await stage.ask(record, apiKey, { model: 'res.users.apikeys', method: 'generate', keyword });
    await stage.openCare().look();
    expect(await readKey()).toMatchObject({ expiresAt: END, isExpiryKnown: true });
  });

  test('a key that never ends', async () => {
    stage = await openStage({ keyDays: null });
    const care = stage.openCare();
    await care.look();
    expect(await readKey()).toMatchObject({ expiresAt: null, isExpiryKnown: true });
    expect(care.states()).toEqual([{ instance: 'prod', state: 'ok', expiresAt: null, failure: null }]);
  });

  test('once: what is known is not asked again', async () => {
    stage = await openStage({ rotate: false });
    const care = stage.openCare();
    await care.look();
    const { total } = stage.sandbox.requests;
    for (let day = 0; day < 3; day++) {
      stage.advance(DAY_MS);
      await care.look();
    }
    expect(stage.sandbox.requests.total).toBe(total);
  });
});

describe('stays unknown', () => {
  test.each([
    ['on 16, which has no such date', { version: 16, keyDays: null }],
    ['on 17, which has no such date', { version: 17, keyDays: null }],
    ['where a password is stored', { apiKey: 'demo' }],
  ] as const)('%s', async (_, options) => {
    stage = await openStage({ ...options, rotate: false });
    const care = stage.openCare();
    await care.look();
    expect(await readKey()).toMatchObject({ expiresAt: null, isExpiryKnown: false, failure: null });
    expect(care.states()).toMatchObject([{ state: 'unknown' }]);
  });

  test('where the user has two keys; a day later it is asked again', async () => {
    stage = await openStage({ rotate: false });
    const { record, apiKey } = (await stage.instances.openKey('prod')) ?? expect.fail();
    const keyword = { key: apiKey, scope: 'rpc', name: 'second', expiration_date: '2027-02-01' };
    await stage.ask(record, apiKey, { model: 'res.users.apikeys', method: 'generate', keyword });
    const care = stage.openCare();
    await care.look();
    expect(await readKey()).toMatchObject({ isExpiryKnown: false });
    stage.advance(HOUR_MS);
    await care.look();
    expect(stage.sandbox.requests.calls['res.users.apikeys.search_read']).toBe(1);
    // The second has ended by then.
    stage.advance(3 * DAY_MS);
    await care.look();
    expect(await readKey()).toMatchObject({ expiresAt: END, isExpiryKnown: true });
  });

  test('where it should be replaced in time, that is said once a day', async () => {
    stage = await openStage({ version: 17, keyDays: null });
    const care = stage.openCare();
    await care.look();
    stage.advance(HOUR_MS);
    await care.look();
    expect(stage.events).toEqual([{ kind: 'unknown', instance: 'prod' }]);
  });

  test('while Odoo is away, and is asked for within the hour', async () => {
    stage = await openStage({ rotate: false });
    let isAway = true;
    const care = stage.openCare({
      ask: async (...question) =>
        isAway ? { kind: 'unanswered', message: 'refused' } : stage.ask(...question),
    });
    await care.look();
    expect(await readKey()).toMatchObject({ isExpiryKnown: false, failure: null });
    isAway = false;
    stage.advance(1.2 * HOUR_MS);
    await care.look();
    expect(await readKey()).toMatchObject({ isExpiryKnown: true });
  });
});

test("the operator's date counts, and Odoo is not asked", async () => {
  const keyExpiresAt = new Date(CREATED_AT + 75 * DAY_MS).toISOString();
  stage = await openStage({ rotate: false, keyExpiresAt });
  const care = stage.openCare();
  await care.look();
  expect(care.states()).toMatchObject([{ state: 'expiring', expiresAt: CREATED_AT + 75 * DAY_MS }]);
  expect(stage.sandbox.requests.total).toBe(0);
});

test('an end within 14 days is told once a day, and in the states, until and after it', async () => {
  stage = await openStage({ rotate: false, nowDays: 75.9 });
  const care = stage.openCare();
  await care.look();
  await care.look();
  expect(care.states()).toMatchObject([{ state: 'ok' }]);
  expect(care.warning()).toBeNull();
  expect(stage.events).toEqual([]);

  stage.advance(0.2 * DAY_MS);
  await care.look();
  stage.advance(HOUR_MS);
  await care.look();
  expect(care.states()).toEqual([{ instance: 'prod', state: 'expiring', expiresAt: END, failure: null }]);
  expect(care.warning()).toContain('1 to expire within 14 days');
  expect(stage.events).toEqual([{ kind: 'expiring', instance: 'prod', expiresAt: END }]);

  stage.advance(14 * DAY_MS);
  await care.look();
  expect(care.states()).toMatchObject([{ state: 'expired' }]);
  expect(care.warning()).toContain('1 expired');
  expect(stage.events).toHaveLength(2);
});

test('an instance that is removed is in no state', async () => {
  stage = await openStage({ rotate: false, nowDays: 80 });
  const care = stage.openCare();
  await care.look();
  const { version = 0 } = (await stage.instances.get('prod')) ?? {};
  await stage.instances.remove('prod', version);
  await care.look();
  expect(care.states()).toEqual([]);
  expect(care.warning()).toBeNull();
});

test('every instance is looked at, however many there are', async () => {
  stage = await openStage({ rotate: false });
  const { sandbox, user } = stage;
  for (let nth = 0; nth < 45; nth++) {
    await stage.instances.add({
      name: `shop-${nth}`,
      url: sandbox.url,
      db: sandbox.db,
      user_id: user.userId,
      api_key: user.apiKey,
      allow_private: true,
    });
  }
  const care = stage.openCare();
  await care.look();
  expect(care.states()).toHaveLength(46);
  expect(care.states().every(({ expiresAt }) => expiresAt === END)).toBe(true);
});

test('once started it looks by itself, until it is closed', async () => {
  stage = await openStage({ rotate: false });
  const care = stage.openCare();
  care.start();
  await vi.waitFor(async () => expect(await readKey()).toMatchObject({ isExpiryKnown: true }));
  await care.close();
  expect(stage.errors).toEqual([]);
});
