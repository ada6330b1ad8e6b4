/**
 * Tests a million generated contacts: the cost of reading pages of them, and that they can be changed like other
 * records.
 */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startSandbox } from '../src/index.ts';
import { executeKw } from './speak.ts';

const count = 1_000_000;
const sandbox = await startSandbox({ version: 19, records: { 'res.partner': count } });
beforeEach(() => sandbox.reset());
afterAll(() => sandbox.close());

type Contact = { id: number; name: string; write_date: string };
const last = (rows: readonly Contact[]): Contact => rows.at(-1) as Contact;

const search = (domain: unknown[], named: object = {}) =>
  executeKw(sandbox, 'res.partner', 'search', [domain], { ...named }) as Promise<number[]>;
const searchRead = (domain: unknown[], named: object = {}) =>
  executeKw(sandbox, 'res.partner', 'search_read', [domain], {
    fields: ['name', 'write_date'],
    ...named,
  }) as Promise<Contact[]>;

/** Returns how many rows the calls read, and how many of their queries read a whole table. */
async function measure<T>(work: () => Promise<T>) {
  const before = { rows: sandbox.rowsRead, scans: sandbox.queries.byScan };
  const result = await work();
  return { result, rows: sandbox.rowsRead - before.rows, scans: sandbox.queries.byScan - before.scans };
}

describe('a million contacts', () => {
  test('a page after any id costs its own rows', async () => {
    for (const after of [0, 500_000, count - 10]) {
      const page = await measure(() => searchRead([['id', '>', after]], { limit: 1000, order: 'id' }));
      expect(page.result).toHaveLength(Math.min(1000, page.result.length));
      expect(page.result.every(({ id }) => id > after)).toBe(true);
      expect(page.rows).toBeLessThan(2100);
      expect(page.scans).toBe(0);
    }
  });

  test('pages by (write_date, id) cost their own rows, from any time on', async () => {
    const [middle] = await searchRead([['id', '=', 600_000]]);
    const since = middle?.write_date as string;
    const page = await measure(() =>
      searchRead([['write_date', '>=', since]], { limit: 1000, order: 'write_date, id' }),
    );
    expect(page.result).toHaveLength(1000);
    expect(page.result[0]?.write_date).toBe(since);
    expect(page.rows).toBeLessThan(2100);
    const within = await measure(() => search([['write_date', '=', since]], { order: 'id' }));
    expect(within.result).toContain(600_000);
    expect(within.result).toHaveLength(50);
    expect(within.rows).toBeLessThan(60);
    const keyset = ['|', ['write_date', '>', since], '&', ['write_date', '=', since], ['id', '>', 600_000]];
    const rest = await measure(() => searchRead(keyset, { limit: 100, order: 'write_date, id' }));
    expect(rest.result[0]?.id).toBe(600_001);
    expect(rest.rows).toBeLessThan(400);
    expect(page.scans + within.scans + rest.scans).toBe(0);
  });

  test('the newest changes are found without a scan', async () => {
    const since = new Date().toISOString().slice(0, 19).replace('T', ' ');
    await executeKw(sandbox, 'res.partner', 'write', [[123_456], { name: 'Changed' }]);
    const made = (await executeKw(sandbox, 'res.partner', 'create', [{ name: 'New' }])) as number;
    const changes = await measure(() =>
      searchRead([['write_date', '>=', since]], { limit: 1000, order: 'write_date, id' }),
    );
    expect(changes.result.map(({ id }) => id)).toEqual([123_456, made]);
    expect(changes.rows).toBeLessThan(10);
    expect(changes.scans).toBe(0);
  });

  test('records are found by id and name, changed, deleted and counted', async () => {
    expect(await search([['name', '=', 'Generated 777777']])).toEqual([777_777]);
    const before = (await executeKw(sandbox, 'res.partner', 'search_count', [[]])) as number;
    expect(before).toBeGreaterThan(count);
    await executeKw(sandbox, 'res.partner', 'write', [[777_777], { name: 'Otherwise', parent_id: 777_000 }]);
    expect(await search([['id', 'in', [777_777, 5, 777_000]]], { order: 'id desc' })).toEqual([
      777_777, 777_000,
    ]);
    expect(await search([['name', '=', 'Otherwise']])).toEqual([777_777]);
    expect(await search([['parent_id', '=', 777_000]])).toEqual([777_777]);
    await executeKw(sandbox, 'res.partner', 'unlink', [[777_777, 888_888]]);
    expect(await executeKw(sandbox, 'res.partner', 'read', [[777_777, 888_888, 888_889], ['name']])).toEqual([
      { id: 888_889, name: 'Generated 888889' },
    ]);
    expect(await executeKw(sandbox, 'res.partner', 'search_count', [[]])).toBe(before - 2);
    expect(await search([['id', '>', 888_886]], { limit: 2, order: 'id' })).toEqual([888_887, 888_889]);
    const newest = await search([['id', '>', 1]], { limit: 2, order: 'id desc' });
    expect(newest[0]).toBe((newest[1] as number) + 1);
  });

  test('all records in pages are each record once, also while others change them', async () => {
    const first = count - 20_000;
    let [after, seen, pages] = [first, 0, 0];
    for (;;) {
      const page = await searchRead([['id', '>', after]], { limit: 1000, order: 'id' });
      if (page.length === 0) break;
      seen += page.length;
      after = last(page).id;
      pages++;
      if (pages === 3)
        await executeKw(sandbox, 'res.partner', 'write', [[after - 5, after + 5], { ref: 'x' }]);
    }
    expect(seen).toBe(after - first);
  });

  test('the order of the model works without an index', async () => {
    const page = await measure(() => search([['id', '>', count]], { limit: 3 }));
    expect(page.result).toHaveLength(3);
    const scan = await measure(() => search([['ref', '=', 'G5000']]));
    expect(scan).toMatchObject({ result: [5000], scans: 1 });
    expect(scan.rows).toBeGreaterThan(count);
  });
});

test('a model whose required fields cannot be made up is refused', async () => {
  await expect(startSandbox({ records: { 'sale.order': 5 } })).rejects.toThrow(
    'Rows of sale.order cannot be generated: partner_id is required.',
  );
  await expect(startSandbox({ records: { 'no.model': 5 } })).rejects.toThrow('there is no such model');
});
