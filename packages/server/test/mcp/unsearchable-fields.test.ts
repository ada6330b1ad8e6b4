/**
 * Tests fields that Odoo cannot search or sort by: up to 18, it leaves such a condition out, and every record matches.
 */
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall } from '../execute/expectations.ts';
import { send } from '../harness.ts';
import { startPair } from '../pair.ts';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { EACH_VERSION, type SandboxVersion, type Stage, startStage } from './stage.ts';

const DOMAIN = [['expected_date', '>', '2099-01-01']];
const CONDITIONS: [string, unknown[]][] = [
  ['alone', DOMAIN],
  ['negated', ['!', ...DOMAIN]],
  ['beside another', ['|', ['name', '=', 'x'], ...DOMAIN]],
  ['with another operator', [['expected_date', 'in', ['2099-01-01 00:00:00']]]],
  ['behind a path', [['order_line.qty_to_deliver', '>', 99_999]]],
  ['behind a longer path', [['order_line.order_id.expected_date', '>', '2099-01-01']]],
];
const ANY: [string, unknown[]][] = [
  ['in `any`', [['order_line', 'any', [['qty_to_deliver', '>', 99_999]]]]],
  ['in `not any`, twice', [['order_line', 'not any', [['order_id', 'any', DOMAIN]]]]],
];

async function post({ proxy }: Stage, path: string, body: object, headers: Record<string, string> = {}) {
  const whole = { model_id: 'sale.order', ...body, erp_instance: { name: 'prod' } };
  const answer = await send(`${proxy.url}${path}`, {
    method: 'POST',
    headers: { 'x-proxy-api': proxy.key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(whole),
  });
  return { status: answer.status, text: answer.body.toString() };
}

const errorOf = ({ text }: { text: string }) => JSON.parse(text).error?.data;
const execute = (stage: Stage, body: object, headers?: Record<string, string>) =>
  post(stage, '/api/erp/execute', body, headers);

describe.each(EACH_VERSION)('Odoo %s over %s', (version, protocol) => {
  test('tools refuse such a condition, and name fields that can be searched', async () => {
    const { call } = await startStage({ version, settings: { 'upstream.protocol': protocol } });
    const hasAny = version >= 17;
    for (const [form, domain] of [...CONDITIONS, ...(hasAny ? ANY : [])])
      for (const tool of ['count_records', 'search_records', 'list_changes', 'aggregate_records']) {
        const more = tool === 'aggregate_records' ? { group_by: ['state'] } : {};
        const { isError, text } = await call(tool, { model: 'sale.order', domain, ...more });
        expect({ form, tool, isError, text }).toMatchObject({
          isError: true,
          text: expect.stringMatching(/query_invalid.*cannot be searched/s),
        });
        expect(text).toMatch(/date_order|product_uom_qty/);
        expect(text).not.toContain('undefined');
      }
  });

  test('export, changes and calls with normalized values refuse it too', async () => {
    const stage = await startStage({ version, settings: { 'upstream.protocol': protocol } });
    const rows = { domain: DOMAIN, fields: ['name'] };
    const answers = [
      await post(stage, '/api/erp/export', rows),
      await post(stage, '/api/erp/changes', { ...rows, since: null }),
      await execute(stage, { action: 'search_read', params: [DOMAIN] }, { prefer: 'values=normalized' }),
      await execute(stage, { action: 'search_count', params: [DOMAIN] }, { prefer: 'values=normalized' }),
    ];
    for (const answer of answers)
      expect(errorOf(answer)).toMatchObject({
        type: 'query_invalid',
        nearest: expect.arrayContaining(['date_order']),
        message: expect.stringContaining('`expected_date` of `sale.order` cannot be searched'),
      });
  });
});

/** Versions that leave the condition out. Odoo 19 refuses it. */
const SILENT: SandboxVersion[] = [14, 15, 16, 17, 18];

test.each(SILENT)('a plain call of %s is refused once the types of the fields are known', async (version) => {
  const stage = await startStage({ version });
  const count = (domain: unknown[]) => execute(stage, { action: 'search_count', params: [domain] });
  const all = await count([]);
  // Odoo leaves the condition out, so all records count.
  expect((await count(DOMAIN)).text).toBe(all.text);
  await execute(stage, { action: 'search_read', params: [[]] }, { prefer: 'values=normalized' });
  expect(errorOf(await count(DOMAIN))).toMatchObject({ type: 'query_invalid' });
  expect((await count([['date_order', '>', '1999-01-01']])).text).toBe(all.text);
});

test.each(SILENT)('an order by a field that is no column is refused on %s', async (version) => {
  const stage = await startStage({ version });
  const { isError, text } = await stage.call('search_records', {
    model: 'sale.order',
    order: 'expected_date desc, id',
  });
  expect({ isError, text }).toMatchObject({
    isError: true,
    text: expect.stringMatching(/query_invalid.*`expected_date` of `sale.order` cannot be sorted by/s),
  });
  expect(text).toContain('date_order');
  const sorted = await stage.call('search_records', { model: 'sale.order', order: 'date_order desc, id' });
  expect(sorted.isError).toBe(false);
});

test('names of fields that the key may not use are not among those that can be searched', async () => {
  const stage = await startStage();
  const key = await stage.createKey({
    instances: ['prod'],
    models: { 'sale.order': ['*'] },
    fields: { 'sale.order': { deny: ['date_order'] } },
  });
  const client = await stage.connect({ key });
  const { text } = await stage.call('count_records', { model: 'sale.order', domain: DOMAIN }, client);
  expect(text).toMatch(/query_invalid/);
  expect(text).not.toContain('date_order');
});

test.each(EACH_VERSION)(
  'describe_model says what can be searched, sorted and grouped on %s over %s',
  async (version, protocol) => {
    const { call } = await startStage({ version, settings: { 'upstream.protocol': protocol } });
    const find = async (name: string) => {
      const { data } = await call('describe_model', { model: 'sale.order', query: name });
      return data.fields.find((field: { name: string }) => field.name === name);
    };
    expect(await find('expected_date')).toMatchObject({
      searchable: false,
      sortable: false,
      groupable: false,
    });
    expect(await find('date_order')).toMatchObject({ searchable: true, sortable: true, groupable: true });
    expect(await find('order_line')).toMatchObject({ searchable: true, sortable: false, groupable: false });
  },
);

test('a query through more models than are checked is refused where fields are checked', async () => {
  const pair = closeAfterTest(
    await startPair((socket, { body }) => {
      const { args } = JSON.parse(body.toString()).params;
      const relation = `m.${Number(args[3].slice(2)) + 1}`;
      const types = { id: { type: 'integer' }, next: { type: 'many2one', relation, searchable: true } };
      answerLikeOdoo(socket, printResult(args[4] === 'fields_get' ? JSON.stringify(types) : '[]'));
    }),
  );
  const search = async (steps: number, headers = {}) => {
    const path = Array.from({ length: steps }, () => 'next').join('.');
    const params = JSON.stringify([[[path, '=', 1]]]);
    const call = printCall(pair.upstream.url, { action: '"search"', model_id: '"m.0"', params });
    return errorOf({ text: (await pair.proxy.post(call, headers)).body.toString() });
  };
  const prefer = { prefer: 'values=normalized' };
  expect(await search(15, prefer)).toBeUndefined();
  expect(await search(20, prefer)).toMatchObject({ type: 'invalid_params' });
  expect(await search(20)).toBeUndefined();
});
