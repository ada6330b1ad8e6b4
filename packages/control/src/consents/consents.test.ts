/** Tests consents: what they keep, for whom, and until when. */
import { randomBytes } from 'node:crypto';
import { makeBatch, openMemoryStore } from '@erp-proxy/stores/testing';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';
import { createVault } from '../instances/vault.ts';
import { createConsents } from './consents.ts';

const CONSENT = {
  id: 'c1',
  person: 'corp/ada',
  application: 'app',
  name: 'Assistant',
  scopes: ['mcp'],
  resource: 'https://erp.example.com/mcp',
  address: 'https://app.example.com',
  providerSession: null,
  createdAt: 5,
  expiresAt: 100,
  claims: { groups: ['secret-group'] },
  refreshToken: 'secret-token',
  askAt: 50,
  confirmedAt: 5,
  serverId: null,
};

function open() {
  const time = { now: 10 };
  const store = closeAfterTest(openMemoryStore());
  const errors: unknown[] = [];
  const openConsents = (masterKey: string) =>
    closeAfterTest(
      createConsents({
        store,
        vault: createVault({ masterKey, otherMasterKeys: [] })!,
        clock: () => time.now,
        onError: (error) => errors.push(error),
      }),
    );
  const consents = openConsents(randomBytes(32).toString('base64'));
  return { time, store, errors, consents, openConsents };
}

test('keeps claims and the refresh token sealed, and shows neither', async () => {
  const { store, consents } = open();
  await consents.add(CONSENT);
  expect(await consents.find('c1')).toEqual({ ...CONSENT, usedAt: 5 });
  const { claims: _, refreshToken: __, askAt: ___, confirmedAt: ____, serverId: _____, ...shown } = CONSENT;
  expect(await consents.get('c1')).toEqual({ ...shown, usedAt: 5 });
  expect(await consents.list({ after: null, limit: 9 })).toEqual([{ ...shown, usedAt: 5 }]);
  expect(JSON.stringify(await store.consents.find('c1'))).not.toContain('secret');
});

test('an update is found at once, and an ended one is not found', async () => {
  const { time, consents } = open();
  await consents.add(CONSENT);
  const consent = (await consents.find('c1'))!;
  const change = { ...consent, claims: { groups: [] } };
  expect(await consents.update(consent, change)).toBe(true);
  time.now = 20;
  await consents.touch('c1');
  expect(await consents.find('c1')).toMatchObject({ usedAt: 20, claims: { groups: [] } });
  const ended: string[] = [];
  await consents.removeOf({ person: 'corp/ada' }, ({ id }) => {
    ended.push(id);
    return makeBatch();
  });
  expect(ended).toEqual(['c1']);
  await expect.poll(() => consents.find('c1')).toBeNull();
  expect(await consents.update(consent, change)).toBe(false);
});

test('an expired one counts as ended, also in memory', async () => {
  const { time, consents } = open();
  await consents.add(CONSENT);
  expect(await consents.find('c1')).not.toBeNull();
  time.now = 100;
  expect(await consents.find('c1')).toBeNull();
  expect(await consents.read('c1')).toBeNull();
  expect(await consents.list({ after: null, limit: 9 })).toEqual([]);
});

test('one that was moved to another person, or is under another master key, does not open', async () => {
  const { store, errors, consents, openConsents } = open();
  await consents.add(CONSENT);
  const row = (await store.consents.find('c1'))!;
  await store.consents.insert({ ...row, id: 'c2' }, 9);
  await store.consents.insert({ ...row, id: 'c3', person: 'corp/bob' }, 9);
  for (const id of ['c2', 'c3']) expect(await consents.find(id)).toBeNull();
  expect(await openConsents(randomBytes(32).toString('base64')).find('c1')).toBeNull();
  expect(errors).toHaveLength(3);
});
