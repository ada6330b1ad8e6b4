/** Tests lone surrogates: a call with one is refused, and the proxy never cuts a text between two surrogates. */
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { EACH_VERSION, startStage } from '../mcp/stage.ts';

const HALF = 'x\ud83d';

test.each(EACH_VERSION)(
  'a half in a call is refused with its path, and the call is not sent: %s over %s',
  async (version, protocol) => {
    const { proxy, call } = await startStage({ version, settings: { 'upstream.protocol': protocol } });
    const partner = async () =>
      (await proxy.call({ ...base, action: 'read', params: [[1], ['write_date']] })).json.result;
    const base = { model_id: 'res.partner', erp_instance: { name: 'prod' } };
    const before = await partner();
    const cases: [object, string][] = [
      [{ action: 'write', params: [[1], { street: HALF }] }, 'params[1].street'],
      [{ action: 'write', params: [[1], { [HALF]: 1 }] }, 'params[1]'],
      [{ action: 'create', params: [[{ name: 'a' }, { name: '\ude00' }]] }, 'params[0][1].name'],
      [{ action: 'search', params: [[['name', '=', HALF]]] }, 'params[0][0][2]'],
      [{ action: 'search', params: [[]], keyword: { context: { note: HALF } } }, 'keyword.context.note'],
      [
        { action: 'search', params: [], keyword: { domain: [['name', 'in', ['a', HALF]]] } },
        'keyword.domain[0][2][1]',
      ],
    ];
    for (const [body, path] of cases)
      for (const headers of [{}, { prefer: 'values=normalized' }]) {
        const { status, json } = await proxy.call({ ...base, ...body }, headers);
        expect({ status, ...json.error?.data }).toMatchObject({ status: 400, type: 'invalid_params', path });
      }
    const { isError, text } = await call('update_records', {
      model: 'res.partner',
      ids: [1],
      values: { street: HALF },
    });
    expect({ isError, text }).toMatchObject({
      isError: true,
      text: expect.stringContaining('`values.street` has half'),
    });
    expect(await partner()).toEqual(before);
  },
);

test('a half in the instance, an export and changes is refused too; whole characters pass', async () => {
  const { proxy } = await startStage();
  const instance = { url: 'https://odoo.example.com', db: 'a', user_id: 2, api_key: HALF };
  const call = { action: 'read', model_id: 'res.partner', params: [[1]], erp_instance: instance };
  expect((await proxy.call(call)).json.error.data).toMatchObject({ path: 'erp_instance.api_key' });
  for (const route of ['export', 'changes']) {
    const body = {
      model_id: 'res.partner',
      domain: [['name', '=', HALF]],
      fields: ['name'],
      ...(route === 'changes' ? { since: null } : {}),
      erp_instance: { name: 'prod' },
    };
    const answer = await send(`${proxy.url}/api/erp/${route}`, {
      method: 'POST',
      headers: { 'x-proxy-api': proxy.key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(JSON.parse(answer.body.toString()).error.data).toMatchObject({
      type: 'invalid_params',
      path: expect.stringMatching(/domain/),
    });
  }
  const whole = {
    action: 'search',
    params: [[['name', '=', '😀']]],
    model_id: 'res.partner',
    erp_instance: { name: 'prod' },
  };
  const printed = JSON.stringify(whole).replace('😀', '\\ud83d\\ude00');
  expect((await proxy.call(printed)).json.result).toEqual([]);
});

test('texts of tools and errors are cut between characters', async () => {
  const { call, proxy } = await startStage();
  const isWhole = (text: string) =>
    expect(text.isWellFormed(), JSON.stringify(text).slice(0, 400)).toBe(true);
  for (const offset of [0, 1]) {
    const text = 'a'.repeat(offset) + '😀'.repeat(3000);
    const made = await call('create_record', { model: 'res.partner', values: { name: text, comment: text } });
    for (const answer of [
      made,
      await call('read_records', { model: 'res.partner', ids: [made.data.id], fields: ['name', 'comment'] }),
      await call('search_records', { model: 'res.partner', domain: [['id', '=', made.data.id]] }),
      await call('count_records', { model: 'res.partner', domain: [[text, '=', 1]] }),
      await call('search_records', { model: 'res.partner', fields: [text] }),
      await call('search_records', { model: 'res.partner', domain: [[`name.${text}`, '=', '2026-01-01']] }),
      await call('call_method', { model: 'res.partner', method: 'write', params: [[1], { [text]: 1 }] }),
      await call('call_method', {
        model: 'res.partner',
        method: 'create',
        params: [{ company_id: { [text]: 1 } }],
      }),
      await call('list_models', { query: text.slice(0, offset + 100) }),
    ])
      isWhole(JSON.parse(`"${answer.text.replaceAll(/[\\"\n]/g, ' ')}"`));
    for (const body of [{ [text]: 1 }, { keyword: { [text]: 1 } }, { params: [[1], { [text]: 1 }] }]) {
      const { json } = await proxy.call({
        action: 'write',
        model_id: 'res.partner',
        erp_instance: { name: 'prod' },
        ...body,
      });
      isWhole(json.error.message);
      isWhole(json.error.data.path ?? '');
    }
  }
});
