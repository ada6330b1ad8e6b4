/** Calls that cannot be undone ask a person first, if the client can. */
import { startSandbox } from '@erp-proxy/sandbox';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send } from '../harness.ts';
import { monotonicMs } from '../time.ts';
import { AGREE, addInstance, startStage } from './stage.ts';

test('asks before deleting, names the records, and deletes after a yes', async () => {
  const { connect, call } = await startStage();
  const questions: string[] = [];
  const client = await connect({
    answer: (message) => {
      questions.push(message);
      return AGREE;
    },
  });
  const { data } = await call('delete_records', { model: 'res.partner', ids: [40] }, client);
  expect(questions).toEqual([
    expect.stringMatching(/^Delete for good: one record of res\.partner on prod: “.+” \(id 40\)\?$/),
  ]);
  expect(data).toEqual({ deleted: [40] });
});

test('the question has the id of each record, even if Odoo does not give its name', async () => {
  const { connect, call, createKey } = await startStage();
  const ask = async (ids: number[], key?: string) => {
    let question = '';
    const client = await connect({
      ...(key === undefined ? {} : { key }),
      answer: (message) => {
        question = message;
        return { action: 'decline' };
      },
    });
    await call('delete_records', { model: 'res.partner', ids }, client);
    return question;
  };
  expect(await ask([99_999])).toBe('Delete for good: one record of res.partner on prod: id 99999?');
  expect(await ask([40, 99_999])).toMatch(/: 2 records of res\.partner on prod: .*id 40\)?, id 99999\?$/);
  expect(await ask([40, 40, 40, 40, 40, 41])).toMatch(/: 2 records .* “.+” \(id 40\), “.+” \(id 41\)\?$/);
  expect(await ask([10, 11, 12, 14, 15, 40])).toMatch(/: 6 records .*\(id 15\) and others\?$/);
  const blind = await createKey({ instances: ['prod'], models: { 'res.partner': ['unlink'] } });
  expect(await ask([10, 11, 12, 14, 15, 40], blind)).toBe(
    'Delete for good: 6 records of res.partner on prod (ids 10, 11, 12, 14, 15 and others)?',
  );
});

test.each([{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { confirm: false } }])(
  'changes nothing after %j',
  async (answer) => {
    const { connect, call } = await startStage();
    const client = await connect({ answer: () => answer });
    const args = { model: 'sale.order', method: 'action_confirm', ids: [1] };
    const { isError, text } = await call('call_method', args, client);
    expect(text).toContain('Nothing was changed');
    expect(isError).toBe(true);
    const order = await call('read_records', { model: 'sale.order', ids: [1], fields: ['state'] }, client);
    expect(order.data.records).toEqual([{ id: 1, state: 'draft' }]);
  },
);

test('asks no person to read, to create or to update', async () => {
  const { connect, call } = await startStage();
  const client = await connect({
    answer: () => {
      throw new Error('asked');
    },
  });
  await call('create_record', { model: 'res.partner', values: { name: 'x' } }, client);
  await call('update_records', { model: 'res.partner', ids: [40], values: { phone: '1' } }, client);
  const method = { model: 'sale.order', method: 'search_count', arguments: [[]] };
  expect((await call('call_method', method, client)).data).toMatchObject({ result: expect.any(Number) });
});

test('a yes counts for the arguments that were asked about, and only with the seal of the question', async () => {
  const { proxy, call, createKey } = await startStage();
  const otherKey = await createKey({ instances: ['prod'], models: { '*': ['*'] } });
  const post = async (ids: number[], more: object, key = proxy.key) => {
    const answer = await send(`${proxy.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-proxy-api': key,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'delete_records',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'delete_records',
          arguments: { model: 'res.partner', ids },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
          },
          ...more,
        },
      }),
    });
    return JSON.parse(answer.body.toString());
  };
  const asked = (await post([40], {})).result;
  expect(asked).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
  const inputResponses = { confirm: AGREE };
  const { requestState } = asked;
  // Another record, another key, no seal, a forged seal.
  expect((await post([41], { inputResponses, requestState })).result.resultType).toBe('input_required');
  const asOther = await post([40], { inputResponses, requestState }, otherKey);
  expect(asOther.result.resultType).toBe('input_required');
  expect((await post([40], { inputResponses })).result.resultType).toBe('input_required');
  expect((await post([40], { inputResponses, requestState: `${requestState}x` })).error.code).toBe(-32602);
  const domain = [['id', 'in', [40, 41]]];
  expect((await call('count_records', { model: 'res.partner', domain })).data.count).toBe(2);
  expect((await post([40], { inputResponses, requestState })).result.structuredContent).toEqual({
    deleted: [40],
  });
});

test('a yes does not count for another server that has got the name', async () => {
  let laterMs = 0;
  const { connect, call, proxy } = await startStage({ nowMs: () => monotonicMs() + laterMs });
  const other = closeAfterTest(await startSandbox({ version: 18 }));
  const questions: string[] = [];
  const client = await connect({
    answer: async (message) => {
      questions.push(message);
      if (questions.length > 1) return { action: 'decline' };
      const found = await proxy.app.instances.getVersion('prod');
      if (found !== null) await proxy.app.instances.remove(found);
      await addInstance(proxy, other, 'prod');
      // The tools keep the list of instances for a second.
      laterMs = 1000;
      return AGREE;
    },
  });
  const { text } = await call('delete_records', { model: 'res.partner', ids: [40] }, client);
  expect(questions).toHaveLength(2);
  expect(text).toContain('Nothing was changed');
  const count = { model: 'res.partner', domain: [['id', '=', 40]] };
  expect((await call('count_records', count, client)).data.count).toBe(1);
});

describe('a client that cannot ask a person needs the word of an administrator', () => {
  const ask = /^approval_required: [\s\S]*Id of the approval: (\w+)\./;

  test.each([
    ['a client of 2025', { mode: 'legacy' as const, answer: () => AGREE }],
    ['a client without elicitation', {}],
  ])('%s', async (_, options) => {
    const { proxy, connect, call } = await startStage();
    const client = await connect(options);
    const deletion = { model: 'res.partner', ids: [40] };
    // Known to the proxy from the first call on.
    for (let index = 0; index < 3; index++)
      expect((await call('delete_records', deletion, client)).text).toMatch(ask);
    const approval = ask.exec((await call('delete_records', deletion, client)).text)?.[1] ?? '';
    const admin = proxy.app.adminFor({ name: 'token', address: null, requestId: null });
    await admin.approveCall(approval);
    const other = await call('delete_records', { ...deletion, ids: [41], approval }, client);
    expect(other.text).toMatch(ask);
    const { data } = await call('delete_records', { ...deletion, approval }, client);
    expect(data).toEqual({ deleted: [40] });
  });

  test('not for calls that its policy lets it make unattended', async () => {
    const { createKey, connect, call } = await startStage();
    const key = await createKey({
      instances: ['prod'],
      models: { 'sale.order': ['action_*', 'unlink'] },
      unattended: { 'sale.*': ['action_confirm'] },
    });
    const questions: string[] = [];
    const answer = (message: string) => {
      questions.push(message);
      return AGREE;
    };
    const confirm = { model: 'sale.order', method: 'action_confirm', ids: [1] };
    for (const options of [{ key }, { key, answer }, { key, mode: 'legacy' as const }]) {
      const client = await connect(options);
      expect((await call('call_method', confirm, client)).text).not.toMatch(/^approval_required/);
    }
    expect(questions).toEqual([]);
    const cancel = { ...confirm, method: 'action_cancel' };
    expect((await call('call_method', cancel, await connect({ key }))).text).toMatch(ask);
  });

  test('not to read, to create or to update', async () => {
    const { connect, call } = await startStage();
    const client = await connect({ mode: 'legacy' });
    const made = await call('create_record', { model: 'res.partner', values: { name: 'x' } }, client);
    expect(made.data).toMatchObject({ id: expect.any(Number) });
    const update = { model: 'res.partner', ids: [40], values: { phone: '1', category_id: { set: [2] } } };
    expect((await call('update_records', update, client)).data).toMatchObject({ updated: [40] });
  });

  test.each([
    { order_line: { delete: [1] } },
    { order_line: [[2, 1, 0]] },
    { order_line: [['2', 1]] },
    { order_line: { update: [{ id: 1, tax_id: { delete: [1] } }] } },
    { order_line: [[1, 1, { tax_id: [[2, 1]] }]] },
  ])('to delete lines by an update: %j', async (values) => {
    const { connect, call } = await startStage();
    const client = await connect({ mode: 'legacy' });
    expect((await call('update_records', { model: 'sale.order', ids: [1], values }, client)).text).toMatch(
      ask,
    );
    const create = { model: 'sale.order', values: { partner_id: 10, ...values } };
    expect((await call('create_record', create, client)).text).toMatch(ask);
  });
});
