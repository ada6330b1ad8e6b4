/** Tests that calls that cannot be undone ask a person first, if the client can. */
import type { Policy } from '@erp-proxy/contract';
import { startSandbox } from '@erp-proxy/sandbox';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send } from '../harness.ts';
import { TEST_ACTOR } from '../test-actor.ts';
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
  // The answer does not apply to another record, with another key, without a seal, or with a forged seal.
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
      // The tools cache the list of instances for a second.
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
    ['a client of 2025 without elicitation', { mode: 'legacy' as const }],
    ['a client without elicitation', {}],
  ])('%s', async (_, options) => {
    const { proxy, connect, call } = await startStage();
    const client = await connect(options);
    const deletion = { model: 'res.partner', ids: [40] };
    // The proxy keeps the request for approval of the first call, so that the next calls get the same answer.
    for (let index = 0; index < 3; index++)
      expect((await call('delete_records', deletion, client)).text).toMatch(ask);
    const approval = ask.exec((await call('delete_records', deletion, client)).text)?.[1] ?? '';
    const admin = proxy.app.adminFor(TEST_ACTOR);
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
});

describe('values that remove records of a list', () => {
  const REMOVING: object[] = [
    { order_line: { delete: [1] } },
    { order_line: { remove: [1] } },
    { order_line: { set: [] } },
    { order_line: { set: [1] } },
    { order_line: { clear: true } },
    { order_line: { add: [2], remove: [1] } },
    { order_line: null },
    { order_line: false },
    { order_line: [1] },
    { order_line: [[5]] },
    { order_line: [[5, 0, 0]] },
    { order_line: [[6, 0, []]] },
    { order_line: [[6, 0, [1]]] },
    { order_line: [[3, 1]] },
    { order_line: [[2, 1, 0]] },
    { order_line: [[2.0, 1]] },
    {
      order_line: [
        [4, 1],
        [3, 1],
      ],
    },
    { message_ids: { set: [] } },
    { message_ids: [[5]] },
    { category_id: { delete: [1] } },
    { category_id: [[2, 1]] },
  ];
  const KEEPING: object[] = [
    { order_line: [] },
    { order_line: { set: undefined, add: [] } },
    { order_line: { delete: [] } },
    { order_line: { remove: [] } },
    { order_line: { clear: false } },
    { order_line: { create: [{ product_id: 5 }], update: [{ id: 1, name: 'x' }], add: [1] } },
    {
      order_line: [
        [0, 0, { product_id: 5 }],
        [1, 1, { name: 'x' }],
        [4, 1],
      ],
    },
    { category_id: { set: [2] } },
    { category_id: { remove: [2] } },
    { category_id: [[6, 0, []]] },
    { category_id: [[3, 1]] },
    { category_id: [[5]] },
    { category_id: null },
    { client_order_ref: 'set' },
    { partner_id: null },
  ];

  /** The record to write: an order, or a partner for fields that orders do not have. */
  const place = (values: object) =>
    'category_id' in values ? { model: 'res.partner', id: 40 } : { model: 'sale.order', id: 1 };

  async function startAsking(policy?: Policy) {
    const stage = await startStage();
    const questions: string[] = [];
    const client = await stage.connect({
      ...(policy === undefined ? {} : { key: await stage.createKey(policy) }),
      answer: (message) => {
        questions.push(message);
        return { action: 'decline' };
      },
    });
    const count = async (tool: string, args: object) => {
      questions.length = 0;
      const { text } = await stage.call(tool, args, client);
      return { asked: questions.length, text, question: questions[0] };
    };
    return { ...stage, count };
  }

  test.each(REMOVING)('an update with %j asks', async (values) => {
    const { count } = await startAsking();
    const { model, id } = place(values);
    const { asked, text } = await count('update_records', { model, ids: [id], values });
    expect(text).toContain('Nothing was changed');
    expect(asked).toBe(1);
  });

  test.each(REMOVING)(
    'a creation with %j asks, also among others and in defaults of the context',
    async (values) => {
      const { count } = await startAsking();
      const { model } = place(values);
      const plain = model === 'sale.order' ? { partner_id: 10 } : { name: 'x' };
      const both = { ...plain, ...values };
      expect((await count('create_record', { model, values: both })).asked).toBe(1);
      expect((await count('create_record', { model, values: [plain, both] })).asked).toBe(1);
      const [[name, value] = ['', null]] = Object.entries(values);
      const context = { [`default_${name}`]: value };
      const { asked } = await count('create_record', { model, values: plain, context });
      expect(asked).toBe(value === null || value === false ? 0 : 1);
    },
  );

  test('a command whose number is a text is refused among values, and asks in the context', async () => {
    const { count } = await startAsking();
    const values = { order_line: [['2', 1]] };
    const create = { partner_id: 10, ...values };
    for (const [tool, args] of [
      ['update_records', { model: 'sale.order', ids: [1], values }],
      ['create_record', { model: 'sale.order', values: create }],
      ['create_record', { model: 'sale.order', values: [{ partner_id: 10 }, create] }],
    ] as const) {
      const { asked, text } = await count(tool, args);
      expect(text).toMatch(/^invalid_params: .*order_line\[0\]` must be .* Nothing was written\./);
      expect(asked).toBe(0);
    }
    const context = { default_order_line: values.order_line };
    const inContext = { model: 'sale.order', values: { partner_id: 10 }, context };
    expect((await count('create_record', inContext)).asked).toBe(1);
  });

  test.each(KEEPING)('an update with %j does not ask', async (values) => {
    const { count } = await startAsking();
    const { model, id } = place(values);
    expect((await count('update_records', { model, ids: [id], values })).asked).toBe(0);
  });

  test.each([
    { order_line: { update: [{ id: 1, invoice_lines: { set: [] } }] } },
    { order_line: [[1, 1, { unknown_ids: [[5]] }]] },
    { order_line: { create: [{ product_id: 5, unknown_ids: { set: [] } }] } },
  ])('among the values of other commands, of a field that is not known: %j', async (values) => {
    const { count } = await startAsking();
    expect((await count('update_records', { model: 'sale.order', ids: [1], values })).asked).toBe(1);
  });

  test('the lines of a contact are those of their model', async () => {
    const { count } = await startAsking();
    const inside = (child: object) => ({
      model: 'res.partner',
      ids: [14],
      values: { child_ids: { update: [{ id: 27, ...child }] } },
    });
    expect((await count('update_records', inside({ child_ids: { remove: [1] } }))).asked).toBe(1);
    expect((await count('update_records', inside({ child_ids: [[5]] }))).asked).toBe(1);
    expect((await count('update_records', inside({ category_id: [[5]] }))).asked).toBe(0);
  });

  test('asks a key that may not ask for the types of fields', async () => {
    const { count } = await startAsking({
      instances: ['prod'],
      models: { 'sale.order': ['write', 'read'], 'sale.order.line': ['*'] },
    });
    const update = (values: object) => ({ model: 'sale.order', ids: [1], values });
    expect((await count('update_records', update({ order_line: [[5]] }))).asked).toBe(1);
    expect((await count('update_records', update({ client_order_ref: null }))).asked).toBe(0);
  });

  test.each(['write', 'web_save'])('%s by call_method asks', async (method) => {
    const { count } = await startAsking();
    const args = { model: 'sale.order', method, ids: [1], arguments: [{ order_line: [[5]] }] };
    expect((await count('call_method', args)).asked).toBe(1);
  });

  test('a client that cannot ask needs the word of an administrator for each', async () => {
    const { connect, call } = await startStage({ settings: { 'approvals.clientMax': '100' } });
    const client = await connect({ mode: 'legacy' });
    for (const values of REMOVING) {
      const { model, id } = place(values);
      const { text } = await call('update_records', { model, ids: [id], values }, client);
      expect(text, JSON.stringify(values)).toMatch(/^approval_required: /);
    }
    for (const values of KEEPING) {
      const { model, id } = place(values);
      const { text } = await call('update_records', { model, ids: [id], values }, client);
      expect(text, JSON.stringify(values)).not.toMatch(/^approval_required: /);
    }
  });

  test('a removal that is confirmed is done', async () => {
    const { call } = await startStage();
    const read = async () =>
      (await call('read_records', { model: 'sale.order', ids: [1], fields: ['order_line'] })).data.records[0];
    expect((await read()).order_line).not.toEqual([]);
    await call('update_records', { model: 'sale.order', ids: [1], values: { order_line: { set: [] } } });
    expect((await read()).order_line).toEqual([]);
  });
});

describe('the policy is asked before the person', () => {
  const POLICIES: [string, Policy, string, object][] = [
    [
      'a method that it does not allow',
      { instances: ['prod'], models: { 'sale.order': ['read', 'action_confirm'] } },
      'call_method',
      { model: 'sale.order', method: 'action_cancel', ids: [1] },
    ],
    [
      'a model that it does not allow',
      { instances: ['prod'], models: { 'sale.order': ['unlink'] } },
      'delete_records',
      { model: 'res.partner', ids: [40] },
    ],
    [
      'a field that it denies',
      {
        instances: ['prod'],
        models: { '*': ['*'] },
        fields: { 'sale.order': { deny: ['client_order_ref'] } },
      },
      'call_method',
      { model: 'sale.order', method: 'write', ids: [1], arguments: [{ client_order_ref: 'x' }] },
    ],
    [
      'a sensitive method',
      { instances: ['prod'], models: { '*': ['*'] } },
      'delete_records',
      { model: 'res.users', ids: [2] },
    ],
    [
      'a key that only reads',
      { instances: ['prod'], models: { '*': ['*'] }, read_only: true },
      'call_method',
      { model: 'sale.order', method: 'action_cancel', ids: [1] },
    ],
  ];

  test.each(POLICIES)('nobody is asked about %s', async (_, policy, tool, args) => {
    const { connect, call, createKey } = await startStage();
    const client = await connect({
      key: await createKey(policy),
      answer: () => {
        throw new Error('asked');
      },
    });
    // A tool that is not offered is an error of the protocol.
    const text = await call(tool, args, client).then(
      (result) => result.text,
      (error: Error) => error.message,
    );
    expect(text).toMatch(/^policy_denied: |Unknown tool/);
  });

  test('nobody is asked about a field that does not exist, or a value of another form', async () => {
    const { connect, call } = await startStage();
    const client = await connect({
      answer: () => {
        throw new Error('asked');
      },
    });
    const update = (values: object) =>
      call(
        'update_records',
        { model: 'sale.order', ids: [1], values: { order_line: [[5]], ...values } },
        client,
      );
    expect((await update({ partnr_id: 1 })).text).toMatch(/^query_invalid: /);
    expect((await update({ order_line: { remove: 'all' } })).text).toMatch(/^invalid_params: /);
  });
});

test('a yes is asked for again if a record has another state by then', async () => {
  const { connect, call } = await startStage();
  const questions: string[] = [];
  const client = await connect({
    answer: async (message) => {
      questions.push(message);
      if (questions.length === 1)
        await call('call_method', { model: 'sale.order', method: 'action_confirm', ids: [1] });
      return questions.length < 3 ? AGREE : { action: 'decline' };
    },
  });
  await call('call_method', { model: 'sale.order', method: 'action_lock', ids: [1] }, client);
  expect(questions).toEqual([
    expect.stringContaining('“Quotation”'),
    expect.stringContaining('“Sales Order”'),
  ]);
});
