/** Tests transactions that tests open: what others see, the times that rows get, and which changes are refused. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startSandbox } from '../src/index.ts';
import { executeKw, speak } from './speak.ts';

const sandbox = await startSandbox({ version: 18 });
let now = 0;
beforeEach(() => {
  sandbox.reset();
  now = Date.UTC(2026, 10, 25, 12, 0, 0);
  sandbox.setClock(() => now);
});
afterAll(() => sandbox.close());

const call = (model: string, method: string, args: unknown[], named: object = {}) =>
  executeKw(sandbox, model, method, args, { ...named }) as Promise<never>;
const timeOf = async (model: string, id: number): Promise<string> =>
  (await call(model, 'read', [[id], ['write_date']]))[0]['write_date'];
const changedSince = (time: string, operator = '>=') =>
  call('res.partner', 'search', [[['write_date', operator, time]]], { order: 'write_date, id' });

describe('a transaction', () => {
  test('is invisible before its commit, and its rows have the time of its start', async () => {
    const open = sandbox.begin(sandbox.db);
    now += 60_000;
    const id = open.create('res.partner', { name: 'Late' });
    open.write('res.partner', 9, { name: 'Wood' });
    open.unlink('res.partner', 21);
    expect(await call('res.partner', 'search', [[['id', 'in', [9, 21, id]]]], { order: 'id' })).toEqual([
      9, 21,
    ]);
    expect(await call('res.partner', 'read', [[9], ['name']])).toEqual([{ id: 9, name: 'Wood Corner' }]);
    expect(open.call('res.partner', 'read', [[9, id], ['name']])).toEqual([
      { id: 9, name: 'Wood' },
      { id, name: 'Late' },
    ]);
    now += 60_000;
    open.commit();
    expect(await timeOf('res.partner', id)).toBe('2026-11-25 12:00:00');
    expect(await timeOf('res.partner', 9)).toBe('2026-11-25 12:00:00');
    expect(await call('res.partner', 'search', [[['id', 'in', [9, 21, id]]]], { order: 'id' })).toEqual([
      9,
      id,
    ]);
  });

  test('may end in another order than it began, and its ids too become visible out of order', async () => {
    const first = sandbox.begin();
    now += 1000;
    const second = sandbox.begin();
    now += 1000;
    const [late, early] = [
      first.create('res.partner', { name: 'A' }),
      second.create('res.partner', { name: 'B' }),
    ];
    expect(early).toBe(late + 1);
    second.commit();
    expect(await changedSince('2026-11-25 12:00:00')).toEqual([early]);
    first.commit();
    expect(await changedSince('2026-11-25 12:00:00')).toEqual([late, early]);
    expect(await changedSince('2026-11-25 12:00:01')).toEqual([early]);
  });

  test('does not compute stored fields again of records that it does not see', async () => {
    const [parent] = (await call('res.partner', 'create', [[{ name: 'Before' }]])) as number[];
    const creation = sandbox.begin();
    const child = creation.create('res.partner', { name: 'Child', parent_id: parent as number });
    const renaming = sandbox.begin();
    renaming.write('res.partner', parent as number, { name: 'After' });
    renaming.commit();
    creation.commit();
    const names = () => call('res.partner', 'read', [[child]], { fields: ['complete_name'] });
    expect(await names()).toEqual([{ id: child, complete_name: 'Before, Child' }]);
    await call('res.partner', 'write', [[parent], { name: 'Last' }]);
    expect(await names()).toEqual([{ id: child, complete_name: 'Last, Child' }]);
  });

  test('that is rolled back leaves nothing but a gap in the ids', async () => {
    const open = sandbox.begin();
    const lost = open.create('res.partner', { name: 'Lost' });
    open.rollback();
    expect(await call('res.partner', 'create', [{ name: 'Next' }])).toBe(lost + 1);
    expect(await call('res.partner', 'read', [[lost], ['name']])).toEqual([]);
    expect(() => open.commit()).toThrow('The transaction has ended.');
    expect(() => open.create('res.partner', { name: 'x' })).toThrow('The transaction has ended.');
    const forgotten = sandbox.begin();
    sandbox.reset();
    expect(() => forgotten.commit()).toThrow('The transaction has ended.');
  });

  test('excludes others from its rows, and may not change a row that changed since its start', async () => {
    const [one, other] = [sandbox.begin(), sandbox.begin()];
    one.write('res.partner', 9, { name: 'One' });
    const refused = expect.objectContaining({ name: 'psycopg2.errors.SerializationFailure' });
    expect(() => other.write('res.partner', 9, { name: 'Other' })).toThrow(refused);
    expect(await call('res.partner', 'write', [[9], { name: 'x' }])).toBe(
      'psycopg2.errors.SerializationFailure',
    );
    one.commit();
    expect(() => other.write('res.partner', 9, { name: 'Other' })).toThrow(refused);
    other.write('res.partner', 10, { name: 'Other' });
    other.commit();
    expect(await call('res.partner', 'read', [[9, 10], ['name']])).toEqual([
      { id: 9, name: 'One' },
      { id: 10, name: 'Other' },
    ]);
  });

  test('a failed call in it undoes only itself', () => {
    const open = sandbox.begin();
    open.write('res.partner', 9, { name: 'Kept' });
    expect(() => open.write('res.partner', 9, { name: 'Lost', no_field: 1 })).toThrow('Invalid field');
    expect(open.call('res.partner', 'read', [[9], ['name']])).toEqual([{ id: 9, name: 'Kept' }]);
    open.rollback();
    expect(() => sandbox.begin('other')).toThrow('database "other" does not exist');
  });
});

describe('write_date', () => {
  test('has microseconds in domains and orders, and seconds in answers', async () => {
    now += 250.5;
    const one = await call('res.partner', 'create', [{ name: 'A' }]);
    now += 0.25;
    const other = await call('res.partner', 'create', [{ name: 'B' }]);
    expect(await timeOf('res.partner', one)).toBe('2026-11-25 12:00:00');
    expect(await changedSince('2026-11-25 12:00:00', '>')).toEqual([one, other]);
    expect(await changedSince('2026-11-25 12:00:00.250600')).toEqual([other]);
    expect(await changedSince('2026-11-25 12:00:00', '=')).toEqual([]);
    expect(await changedSince('2026-11-25 12:00:00.2505', '=')).toEqual([one]);
    sandbox.upgrade(19);
    expect(await changedSince('2026-11-25 12:00:00', '>')).toEqual([]);
    expect(await changedSince('2026-11-25 12:00:00', '=')).toEqual([one, other]);
    expect(await changedSince('2026-11-25 12:00:00', '>=')).toEqual([one, other]);
    sandbox.upgrade(18);
  });

  test('changes with a stored computed field of another record', async () => {
    const line = (await call('sale.order.line', 'search', [[['order_id', '=', 1]]], { limit: 1 }))[0];
    await call('sale.order.line', 'write', [[line], { product_uom_qty: 7 }]);
    expect(await timeOf('sale.order', 1)).toBe('2026-11-25 12:00:00');
    expect(await timeOf('sale.order', 2)).toBe('2026-11-21 01:30:31');
    now += 1000;
    await call('sale.order.line', 'write', [[line], { order_id: 2 }]);
    expect(await timeOf('sale.order', 1)).toBe('2026-11-25 12:00:01');
    expect(await timeOf('sale.order', 2)).toBe('2026-11-25 12:00:01');
    now += 1000;
    await call('sale.order.line', 'unlink', [[line]]);
    expect(await timeOf('sale.order', 1)).toBe('2026-11-25 12:00:01');
    expect(await timeOf('sale.order', 2)).toBe('2026-11-25 12:00:02');
    await call('res.partner', 'write', [[9], { name: 'Wood & Co' }]);
    const child = (await call('res.partner', 'search', [[['parent_id', '=', 9]]], { limit: 1 }))[0];
    expect(await timeOf('res.partner', child)).toBe('2026-11-25 12:00:02');
  });

  test('does not change with SQL or a cascade', async () => {
    sandbox.putRaw('res.partner', 9, { name: 'By SQL' });
    expect(await call('res.partner', 'read', [[9], ['name', 'write_date']])).toEqual([
      { id: 9, name: 'By SQL', write_date: '2026-11-21 01:30:31' },
    ]);
    sandbox.putRaw('res.partner', 9, null);
    expect(await call('res.partner', 'read', [[9], ['name']])).toEqual([]);
  });

  test('is missing on models without log columns', async () => {
    for (const model of ['mail.notification', 'res.users.apikeys']) {
      expect(Object.keys(await call(model, 'fields_get', []))).not.toContain('write_date');
      expect(await call(model, 'read', [[1], ['write_date']])).toBe('builtins.ValueError');
    }
    const message = await call('res.partner', 'message_post', [[9]], { body: 'Hello' });
    const id = await call('mail.notification', 'create', [{ mail_message_id: message, res_partner_id: 9 }]);
    expect(
      await call('mail.notification', 'search_read', [[['is_read', '=', false]], ['res_partner_id']]),
    ).toEqual([{ id, res_partner_id: [9, 'Wood Corner'] }]);
  });
});

test('archived records appear with active_test, and records leave a domain', async () => {
  const domain = [['country_id', '=', 20]];
  const before = (await call('res.partner', 'search', [domain])) as number[];
  await call('res.partner', 'write', [[16], { active: false }]);
  expect(await call('res.partner', 'search', [domain])).toEqual(before.filter((id) => id !== 16));
  const all = await call('res.partner', 'search', [domain], { context: { active_test: false } });
  expect(new Set(all)).toEqual(new Set(before));
  await call('res.partner', 'write', [[16], { active: true, country_id: 233 }]);
  expect(await call('res.partner', 'search', [domain])).toEqual(before.filter((id) => id !== 16));
});

describe('faults that tests cause', () => {
  test('a listener runs before each call, and may delay it or change data', async () => {
    const seen: string[] = [];
    let held = () => {};
    sandbox.beforeCall(async ({ model, method, userId }) => {
      seen.push(`${model}.${method} by ${userId}`);
      if (method === 'read') sandbox.putRaw('res.partner', 9, null);
      if (method === 'search') await new Promise<void>((resolve) => (held = resolve));
    });
    const searching = call('res.partner', 'search', [[['id', '=', 9]]]);
    await expect.poll(() => seen).toEqual(['res.partner.search by 2']);
    held();
    expect(await searching).toEqual([9]);
    expect(await call('res.partner', 'read', [[9], ['name']])).toEqual([]);
    sandbox.beforeCall(null);
    await call('res.partner', 'read', [[10], ['name']]);
    expect(seen).toHaveLength(2);
    sandbox.upgrade(19);
    sandbox.beforeCall(() => sandbox.putRaw('res.partner', 10, null));
    const { text } = await speak(sandbox, '/json/2/res.partner/read', {
      body: { ids: [10], fields: ['name'] },
    });
    expect(text).toBe('[]');
    sandbox.beforeCall(null);
    sandbox.upgrade(18);
  });

  test('a removed field is gone from fields_get and fails in reads, until the reset', async () => {
    sandbox.removeField('res.partner', 'ref');
    expect(Object.keys(await call('res.partner', 'fields_get', []))).not.toContain('ref');
    expect(await call('res.partner', 'read', [[9], ['name', 'ref']])).toBe('builtins.ValueError');
    expect(await call('res.partner', 'search', [[['ref', '=', 'x']]])).toBe('builtins.ValueError');
    expect(await call('res.partner', 'read', [[9], ['name']])).toEqual([{ id: 9, name: 'Wood Corner' }]);
    sandbox.upgrade(17);
    expect(await call('res.partner', 'read', [[9], ['ref']])).toBe('builtins.ValueError');
    sandbox.upgrade(18);
    sandbox.reset();
    expect(await call('res.partner', 'read', [[9], ['ref']])).toEqual([{ id: 9, ref: false }]);
    expect(() => sandbox.removeField('res.partner', 'no_field')).toThrow(
      'res.partner has no field no_field.',
    );
  });
});
