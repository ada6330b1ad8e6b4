/** Tests the keys that sign the tokens of applications. */
import { randomBytes } from 'node:crypto';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';
import { createVault } from '../instances/vault.ts';
import { createSigningKeys } from './signing-keys.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function open(masterKey = randomBytes(32).toString('base64')) {
  const time = { now: 1_800_000_000_000 };
  const store = closeAfterTest(openMemoryStore());
  const errors: unknown[] = [];
  const openKeys = (key = masterKey) =>
    createSigningKeys({
      store: store.signInObjects,
      vault: createVault({ masterKey: key, otherMasterKeys: [] })!,
      clock: () => time.now,
      onError: (error) => errors.push(error),
    });
  return { time, store, errors, openKeys };
}

const listIds = async (keys: ReturnType<ReturnType<typeof open>['openKeys']>) =>
  (await keys.publish()).keys.map(({ kid }) => kid);

test('replicas share one key, which is sealed in the store and published without its private part', async () => {
  const { store, openKeys } = open();
  const [one, two] = [openKeys(), openKeys()];
  const { d, kid } = await one.current();
  expect((await two.current()).kid).toBe(kid);
  expect(JSON.stringify(await store.signInObjects.list('signing-key'))).not.toContain(d);
  expect(await one.publish()).toEqual({ keys: [expect.not.objectContaining({ d: expect.anything() })] });
});

test('a key that another replica made at the same moment is known to whoever reads the store', async () => {
  const { openKeys } = open();
  const [one, two] = [openKeys(), openKeys()];
  const signing = await Promise.all([one.current(), two.current()]);
  for (const keys of [one, two])
    expect((await keys.readPublished()).keys.map(({ kid }) => kid)).toEqual(
      expect.arrayContaining(signing.map(({ kid }) => kid)),
    );
});

test('a key is replaced after 30 days: published for an hour before it signs, and for two days after', async () => {
  const { time, openKeys } = open();
  const keys = openKeys();
  const first = (await keys.current()).kid;
  time.now += 30 * DAY_MS;
  expect((await keys.current()).kid).toBe(first);
  const [, second] = await listIds(keys);
  expect(await listIds(openKeys())).toEqual([first, second]);
  time.now += HOUR_MS;
  expect((await keys.current()).kid).toBe(second);
  time.now += DAY_MS;
  expect(await listIds(keys)).toEqual([first, second]);
  time.now += DAY_MS;
  expect(await listIds(keys)).toEqual([second]);
});

test('keys under another master key are left out, and reported', async () => {
  const { errors, openKeys } = open();
  const lost = (await openKeys().current()).kid;
  const keys = openKeys(randomBytes(32).toString('base64'));
  expect((await keys.current()).kid).not.toBe(lost);
  expect(errors).toHaveLength(1);
});
