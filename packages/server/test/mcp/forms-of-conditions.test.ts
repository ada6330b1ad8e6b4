/** Tests forms of operators, times and paths in domains that Odoo takes too, and what Odoo gets for each. */
import { expect, test } from 'vitest';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { startWithScript } from './scripted-odoo.ts';

const MODEL = 'x.model';
const FIELDS = {
  date_order: { type: 'datetime' },
  name: { type: 'char' },
  parent_id: { type: 'many2one', relation: MODEL },
};
const ZONED = '2026-05-01T00:00:00+02:00';
const IN_UTC = '2026-04-30 22:00:00';

/**
 * Resolves to a function that counts records, and resolves to the domain that Odoo got, or to the error if it got none.
 */
async function start() {
  let sent: unknown = null;
  const post = await startWithScript((socket, { body }) => {
    const { args } = JSON.parse(body.toString()).params;
    if (args[4] === 'search_count') [sent] = args[5];
    const results: Record<string, unknown> = { fields_get: FIELDS, context_get: { tz: 'Europe/Brussels' } };
    answerLikeOdoo(socket, printResult(JSON.stringify(results[args[4]] ?? 1)));
  });
  return async (...domain: unknown[]) => {
    sent = null;
    const params = { name: 'count_records', arguments: { model: MODEL, domain } };
    const answer = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    return sent ?? answer;
  };
}

test('operators have other names and can be in capital letters', async () => {
  const ask = await start();
  for (const operator of ['==', '=?', '<>']) {
    expect(await ask(['date_order', operator, ZONED])).toEqual([['date_order', operator, IN_UTC]]);
    expect(await ask(['date_order', operator, '2026-05-01'])).toMatch(/which no day is equal to/);
  }
  for (const operator of ['IN', 'Not In']) {
    expect(await ask(['date_order', operator, [ZONED]])).toEqual([['date_order', operator, [IN_UTC]]]);
    expect(await ask(['date_order', operator, ['2026-05-01']])).toMatch(/which no day is equal to/);
  }
  const inner = ['date_order', '>=', '2026-05-01'];
  expect(await ask(['parent_id', 'ANY', [inner]])).toEqual([
    ['parent_id', 'ANY', [['date_order', '>=', IN_UTC]]],
  ]);
});

test.each(['2026-05-01t00:00:00+02:00', '2026-05-01 00:00:00 +0200', '2026-04-30T22:00:00.1234567890Z'])(
  'the zone of %s is not ignored',
  async (time) => {
    const ask = await start();
    expect(await ask(['date_order', '>', time])).toEqual([['date_order', '>', IN_UTC]]);
    expect(await ask(['name', '=', time])).toEqual([['name', '=', time]]);
  },
);

test('paths are followed to some length, so that none keeps other callers waiting', async () => {
  const ask = await start();
  const findPath = (steps: number) => `${'parent_id.'.repeat(steps)}date_order`;
  const day = '2026-05-01';
  expect(await ask([findPath(199), '>=', day])).toEqual([[findPath(199), '>=', IN_UTC]]);
  expect(await ask([findPath(200), '>=', day])).toMatch(/invalid_params: .*more than 200 fields/);
  const many = Array.from({ length: 20 }, (_, index) => [findPath(index + 10), '>=', day]);
  expect(await ask(...many)).toMatch(/invalid_params: .*more than 200 fields/);
  // A path that occurs several times is followed once.
  const same = Array(300).fill(['parent_id.parent_id.name', '=', day]);
  expect(await ask(...same)).toEqual(same);
});
