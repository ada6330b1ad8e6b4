/** `aggregate_records` on a model that has a field named `count`. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';

async function start() {
  const sent: { method: string; args: unknown[] }[] = [];
  const upstream = closeAfterTest(
    await startUpstream((socket, { body }) => {
      const { args } = JSON.parse(body.toString()).params;
      if (args[4] === 'read_group') sent.push({ method: args[4], args: args[5] });
      const field = { type: 'integer', store: true };
      answerLikeOdoo(
        socket,
        printResult(args[4] === 'fields_get' ? JSON.stringify({ id: field, count: field }) : '[]'),
      );
    }),
  );
  const settings = {
    'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
    'upstream.protocol': 'jsonrpc',
  };
  const proxy = closeAfterTest(await startProxy({ settings }));
  const instance = { name: 'prod', url: upstream.url, db: 'odoo', user_id: 2, api_key: 'key' };
  await proxy.app.instances.add({ ...instance, allow_private: true });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'x-proxy-api': proxy.key,
  };
  return async (args: object) => {
    const params = { name: 'aggregate_records', arguments: { model: 'x.model', ...args }, _meta: {} };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const answer = await send(`${proxy.url}/mcp`, { method: 'POST', headers, body });
    expect(answer.body.toString()).toContain('groups');
    const [, fields, , , , order] = sent.at(-1)!.args;
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
