/** Tests administrators who change one key at the same moment, through several replicas, in each store. */

import { createTestSchema } from '@erp-proxy/stores/testing';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { makeFolder } from '../process/program.ts';
import { SETTINGS, startAdmin } from './admin-client.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
const STORES = ['memory', 'sqlite', ...(SERVER_URL === '' ? [] : ['postgres'])] as const;
const COUNT = 8;

async function start(store: (typeof STORES)[number]) {
  const settings = { ...SETTINGS, 'store.url': await chooseUrl(store) };
  const first = await startAdmin({ settings });
  // A store in memory has one process.
  const second = store === 'memory' ? first : await startAdmin({ settings });
  const made = await first.post('/keys', { name: 'Shop' });
  const { id } = made.json;
  const patch = (index: number, changes: object, headers = {}) =>
    (index % 2 === 0 ? first : second).patch(`/keys/${id}`, changes, { headers });
  return { ...first, id, patch, tag: String(made.headers.etag) };
}

async function chooseUrl(store: (typeof STORES)[number]): Promise<string> {
  if (store === 'memory') return 'memory:';
  if (store === 'sqlite') return `sqlite:${makeFolder()}/store.db`;
  const schema = await createTestSchema(SERVER_URL);
  closeAfterTest({ close: () => schema.drop() });
  return schema.url;
}

const ROWS = Array.from({ length: COUNT }, (_, index) => index);
const listOf = (answers: readonly { status: number }[]) => answers.map(({ status }) => status);

test.each(STORES)('%s: without `if-match`, all of them are made, and no member is lost', async (store) => {
  const { id, get, patch, listAdminActions } = await start(store);
  const expires = '2999-01-01T00:00:00.000Z';
  const policy = { instances: ['prod'], models: { 'res.partner': ['read'] } };
  const choose = (index: number) =>
    index === 3 ? { expires_at: expires } : index === 5 ? { policy } : { name: `Shop ${index}` };
  const answers = await Promise.all(ROWS.map((index) => patch(index, choose(index))));
  expect(listOf(answers)).toEqual(ROWS.map(() => 200));
  const { json } = await get(`/keys/${id}`);
  expect(json).toMatchObject({ version: COUNT + 1, expires_at: expires, policy });
  expect(json.name).toMatch(/^Shop \d$/);
  const actions = (await listAdminActions()).filter(({ action }) => action === 'key.update');
  const names = actions.flatMap(({ changes }) => ('name' in changes ? [changes.name] : []));
  expect(names.map(({ to }) => to).toSorted()).toEqual([0, 1, 2, 4, 6, 7].map((index) => `Shop ${index}`));
  // Each action names the value before its change.
  expect(names.map(({ from }) => from)).toEqual(['Shop', ...names.map(({ to }) => to).slice(0, -1)]);
});

test.each(STORES)('%s: with `if-match`, one of them is made, and the others are refused', async (store) => {
  const { id, get, patch, tag } = await start(store);
  const answers = await Promise.all(
    ROWS.map((index) => patch(index, { name: `Shop ${index}` }, { 'if-match': tag })),
  );
  expect(listOf(answers).toSorted()).toEqual([200, ...ROWS.slice(1).map(() => 412)]);
  expect((await get(`/keys/${id}`)).json.version).toBe(2);
});

test.each(STORES)('%s: a rotation without `if-match` succeeds beside changes of the key', async (store) => {
  const { id, patch, post } = await start(store);
  const changes = ROWS.map((index) => patch(index, { name: `Shop ${index}` }));
  const rotated = await post(`/keys/${id}/rotate`, { overlap_seconds: 60 });
  expect(rotated.status).toBe(201);
  expect(listOf(await Promise.all(changes))).toEqual(ROWS.map(() => 200));
});
