import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { executeKw, speak } from '../../test/speak.ts';
import { type Sandbox, startSandbox } from '../index.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ version: 19 });
});
beforeEach(() => sandbox.reset());
afterAll(() => sandbox.close());

const findOrder = (field: string) => executeKw(sandbox, 'sale.order', 'read', [[1], [field]]);

describe('the same call over both protocols', () => {
  test.each<[string, unknown[], Record<string, unknown>, Record<string, unknown>, RegExp]>([
    [
      'add_line',
      [[1], 44, 2],
      { discount: 10 },
      { ids: [1], product_id: 44, quantity: 2, discount: 10 },
      /^\d+$/,
    ],
    ['add_products', [[1]], { quantity: 2 }, { ids: [1], quantity: 2 }, /^\[\]$/],
    ['set_terms', [[1]], { note: '<p>x</p>' }, { ids: [1], note: '<p>x</p>' }, /^true$/],
    ['estimate_total', [[[44, 2]], 50], {}, { lines: [[44, 2]], discount: 50 }, /^295$/],
  ])('%s', async (method, args, named, body, result) => {
    const overJsonrpc = await executeKw(sandbox, 'sale.order', method, args, named);
    sandbox.reset();
    const overJson2 = await speak(sandbox, `/json/2/sale.order/${method}`, { body });
    expect(overJson2.status).toBe(200);
    expect(JSON.stringify(overJsonrpc)).toMatch(result);
    // The id of a new line is equal too, because the reset restores the sequence.
    expect(overJson2.body).toEqual(overJsonrpc);
  });
});

test('*args can be given by position only', async () => {
  const ids = await executeKw(sandbox, 'sale.order', 'add_products', [[1], 44, 5], { quantity: 3 });
  expect(ids).toHaveLength(2);
  const refused = await speak(sandbox, '/json/2/sale.order/add_products', {
    body: { ids: [1], product_ids: [44] },
  });
  expect(refused.status).toBe(422);
});

test('keyword-only arguments are refused by position', async () => {
  expect(await executeKw(sandbox, 'sale.order', 'set_terms', [[1], 'x'])).toBe('builtins.TypeError');
  expect(await executeKw(sandbox, 'sale.order', 'set_terms', [[1]], { append: true })).toBe(
    'builtins.TypeError',
  );
  await executeKw(sandbox, 'sale.order', 'set_terms', [[1]], { note: '<p>a</p>' });
  await executeKw(sandbox, 'sale.order', 'set_terms', [[1]], { note: '<p>b</p>', append: true });
  expect(await findOrder('note')).toEqual([{ id: 1, note: '<p>a</p><p>b</p>' }]);
});

test('find_or_create returns a recordset: its ids from 19 on, its text before', async () => {
  const args = ['info@addict.example.com'];
  expect(await executeKw(sandbox, 'res.partner', 'find_or_create', args)).toEqual([10]);
  const older = await startSandbox({ version: 18 });
  try {
    expect(await executeKw(older, 'res.partner', 'find_or_create', args)).toBe('res.partner(10,)');
  } finally {
    await older.close();
  }
  const created = await speak(sandbox, '/json/2/res.partner/find_or_create', {
    body: { email: 'new@example.com' },
  });
  expect(created.body).toEqual([expect.any(Number)]);
});
