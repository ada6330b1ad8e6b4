/** Tests that an approval names the records of its call, as far as its caller may read them when it asks. */
import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { startNaming } from './naming.ts';

const ALL: Policy['models'] = {
  '*': ['*'],
  'sale.order': ['message_post', 'unlink', 'write', 'action_cancel'],
};
const S00004 = {
  id: 4,
  name: 'S00004',
  partner: 'Gemini Furniture',
  order: null,
  state: 'sale',
  stage: null,
};
const UNNAMED = { name: null, partner: null, order: null, state: null, stage: null };

test.each(['execute', 'json2', 'mcp'] as const)('records have name, partner and state: %s', async (way) => {
  const { ask, concerns } = await startNaming({ models: ALL }, way);
  const id = await ask('sale.order', 'action_cancel', [4]);
  expect(await concerns(id)).toEqual([{ part: 'records', model: 'sale.order', count: 1, records: [S00004] }]);
});

test('up to five records are named, and all are counted', async () => {
  const { ask, concerns } = await startNaming({ models: ALL });
  const [records] = await concerns(await ask('sale.order', 'unlink', [1, 2, 3, 4, 5, 6, 7, 7]));
  expect(records?.count).toBe(7);
  expect(records?.records.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
});

test('lines that a write removes are named with their order, and who gets the mail of a message', async () => {
  const { ask, concerns, call } = await startNaming({ models: ALL });
  await call('sale.order', 'write', [[4], { message_partner_ids: [[6, 0, [11]]] }]);
  const parts = await concerns(await ask('sale.order', 'write', [4], [{ order_line: [[5]] }]));
  expect(parts[1]).toMatchObject({
    part: 'removed',
    field: 'order_line',
    model: 'sale.order.line',
    records: [{ name: expect.any(String), order: 'S00004' }],
  });
  const keyword = { body: 'Hi', subtype_xmlid: 'mail.mt_comment', partner_ids: [14] };
  const message = await concerns(await ask('sale.order', 'message_post', [4], [], keyword));
  expect(message.slice(1)).toMatchObject([
    { part: 'partners', model: 'res.partner', count: 1, records: [{ id: 14, name: 'Lumber Inc' }] },
    { part: 'followers', model: 'res.partner', count: 1, records: [{ id: 11, name: 'Gemini Furniture' }] },
  ]);
});

const POLICIES: [string, Partial<Policy>, object][] = [
  ['may not search the model', { models: { 'sale.order': ['read', 'unlink'] } }, UNNAMED],
  [
    'needs an approval to search it',
    { models: ALL, approve: { 'sale.order': ['unlink', 'search_read'] } },
    UNNAMED,
  ],
  [
    'may not read the state',
    { models: ALL, fields: { 'sale.order': { deny: ['state'] } } },
    { ...S00004, state: null },
  ],
  [
    'may not read the names of partners',
    { models: ALL, fields: { 'res.partner': { deny: ['name'] } } },
    { ...S00004, partner: null },
  ],
  [
    'may not read the name of the record',
    { models: ALL, fields: { 'sale.order': { deny: ['name'] } } },
    { ...S00004, name: null },
  ],
];

test.each(POLICIES)('nothing is shown that the key may not read: it %s', async (_, policy, expected) => {
  const { ask, concerns } = await startNaming(policy);
  const [records] = await concerns(await ask('sale.order', 'unlink', [4]));
  expect(records?.records).toEqual([{ ...expected, id: 4 }]);
});

test('a record that does not exist has no name, and others keep theirs', async () => {
  const { ask, concerns } = await startNaming({ models: ALL });
  const [records] = await concerns(await ask('sale.order', 'unlink', [4, 99_999]));
  expect(records?.records).toEqual([S00004, { ...UNNAMED, id: 99_999 }]);
});

test('archived records are named too', async () => {
  const { ask, concerns, call } = await startNaming({ models: { '*': ['*'] }, approve: { '*': ['unlink'] } });
  await call('res.partner', 'write', [[40], { active: false }]);
  const [records] = await concerns(await ask('res.partner', 'unlink', [40]));
  expect(records?.records[0]?.name).toEqual(expect.any(String));
});

test('names are sealed in the store, cut, and deleted with the values', async () => {
  const { ask, concerns, call, app, admin } = await startNaming({ models: { '*': ['*'] } });
  await call('res.partner', 'write', [[40], { name: `${'x'.repeat(500)}\u202e` }]);
  const id = await ask('res.partner', 'unlink', [40]);
  const [records] = await concerns(id);
  expect(records?.records[0]?.name).toMatch(/x…$/);
  expect(records?.records[0]?.name?.length).toBe(201);
  expect(JSON.stringify(await app.store.approvals.find(id))).not.toContain('xxx');
  await admin.refuseCall(id, { reason: 'no' });
  expect((await admin.getApproval(id)).call).toBeNull();
});

test('an approval is asked for without names if Odoo does not answer, and once', async () => {
  const { ask, concerns, sandbox } = await startNaming({ models: ALL });
  await sandbox.close();
  const id = await ask('sale.order', 'unlink', [4]);
  expect(await concerns(id)).toEqual([
    { part: 'records', model: 'sale.order', count: 1, records: [{ ...UNNAMED, id: 4 }] },
  ]);
  expect(await ask('sale.order', 'unlink', [4])).toBe(id);
});

test('names that change afterwards need no other approval', async () => {
  const { ask, call, send, admin } = await startNaming({ models: ALL });
  const id = await ask('sale.order', 'action_cancel', [4]);
  await call('res.partner', 'write', [[11], { name: 'Another name' }]);
  expect(await ask('sale.order', 'action_cancel', [4])).toBe(id);
  await admin.approveCall(id);
  expect((await send('sale.order', 'action_cancel', [[4]], {}, id)).error).toBeUndefined();
});

test('approvals show prints the records, with escapes for what deceives a reader', async () => {
  const { ask, show, call } = await startNaming({ models: ALL });
  await call('res.partner', 'write', [[11], { name: 'A"\u202eb' }]);
  const stdout = await show(await ask('sale.order', 'action_cancel', [4, 5, 1, 2, 3, 6, 7]));
  expect(stdout).toMatch(
    /^records {7}sale\.order: "S00004" \(id 4, partner "A\\"(\\u202e)?b", state "sale"\), .* and 2 more$/m,
  );
  expect(stdout).not.toContain('\u202e');
});

test('approvals show says which followers cannot be read, and where lines are removed', async () => {
  const { ask, show } = await startNaming({
    models: ALL,
    fields: { 'sale.order': { deny: ['message_partner_ids'] } },
  });
  const keyword = { body: 'Hi', subtype_id: 1 };
  expect(await show(await ask('sale.order', 'message_post', [4], [], keyword))).toMatch(
    /^followers {5}res\.partner: not known$/m,
  );
  const write = await ask('sale.order', 'write', [4], [{ order_line: [[3, 9]] }]);
  expect(await show(write)).toMatch(/^removed {7}order_line, sale\.order\.line: ".*" \(id 9, /m);
});
