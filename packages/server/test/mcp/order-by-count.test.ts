/** `aggregate_records` on a model that has a field named `count`. */
import { expect, test } from 'vitest';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { startWithScript } from './scripted-odoo.ts';

async function start() {
  const sent: unknown[][] = [];
  const post = await startWithScript((socket, { body }) => {
    const { args } = JSON.parse(body.toString()).params;
    if (args[4] === 'read_group') sent.push(args[5]);
    const field = { type: 'integer', store: true };
    const result = args[4] === 'fields_get' ? JSON.stringify({ id: field, count: field }) : '[]';
    answerLikeOdoo(socket, printResult(result));
  });
  return async (args: object) => {
    const params = { name: 'aggregate_records', arguments: { model: 'x.model', ...args }, _meta: {} };
    const answer = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    expect(answer).toContain('groups');
    const [, fields, , , , order] = sent.at(-1)!;
    return { fields, order };
  };
}

test('names the field if the call groups by it or measures it, and else the number of records', async () => {
  const order = await start();
  expect(await order({ group_by: ['count'], order: 'count desc' })).toEqual({
    fields: ['__count'],
    order: 'count desc',
  });
  expect(await order({ measures: ['count:sum'], order: 'count, __count desc' })).toEqual({
    fields: ['count:sum', 'group__count:count(id)'],
    order: 'count, group__count desc',
  });
  expect(await order({ group_by: ['id'], order: 'count desc' })).toEqual({
    fields: ['group__count:count(id)'],
    order: 'group__count desc',
  });
});
