/** Calls that cannot be undone ask a person first, if the client can. */
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { startStage } from './stage.ts';

const AGREE = { action: 'accept', content: { confirm: true } };

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
  const { proxy, call } = await startStage();
  const post = async (ids: number[], more: object) => {
    const answer = await send(`${proxy.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-proxy-api': proxy.key,
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
  // Another record, no seal, a forged seal.
  expect((await post([41], { inputResponses, requestState })).result.resultType).toBe('input_required');
  expect((await post([40], { inputResponses })).result.resultType).toBe('input_required');
  expect((await post([40], { inputResponses, requestState: `${requestState}x` })).error.code).toBe(-32602);
  const domain = [['id', 'in', [40, 41]]];
  expect((await call('count_records', { model: 'res.partner', domain })).data.count).toBe(2);
  expect((await post([40], { inputResponses, requestState })).result.structuredContent).toEqual({
    deleted: [40],
  });
});

test('a client of 2025 is not asked: it has no session to answer in', async () => {
  const { connect, call } = await startStage();
  const client = await connect({ mode: 'legacy', answer: () => AGREE });
  expect((await call('delete_records', { model: 'res.partner', ids: [40] }, client)).data).toEqual({
    deleted: [40],
  });
});
