/**
 * Tests docs/values.md: values of every type of field are written and read back, over both protocols. fast-check prints
 * the seed.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openProxy, openSandbox } from '../protocols/stage.ts';
import { countCases } from '../random-cases.ts';

const PREFER = { prefer: 'values=normalized' };
const ZONES = ['Z', '+02:00', '-0530', '+14'];

describe.each([
  ['jsonrpc', 18],
  ['json2', 19],
] as const)('over %s', async (protocol, version) => {
  const sandbox = await openSandbox({ version });
  const proxy = await openProxy([sandbox], protocol);

  const run = async (
    model: string,
    action: string,
    params: unknown[],
    headers: Record<string, string> = PREFER,
  ) => {
    const { userId: user_id, apiKey: api_key } = sandbox.users.admin;
    const answer = await proxy.call(
      {
        action,
        model_id: model,
        params,
        erp_instance: { url: sandbox.url, db: sandbox.db, user_id, api_key },
      },
      headers,
    );
    if (answer.json.error !== undefined) throw new Error(JSON.stringify(answer.json.error));
    return { result: answer.json.result, headers: answer.headers };
  };

  const text = fc.string({ maxLength: 20 }).filter((value) => value.trim() !== '' && !value.includes('\0'));
  const orNull = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: null });
  const day = fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  const partnerIds = (await run('res.partner', 'search_read', [[], ['id', 'display_name']])).result as {
    id: number;
    display_name: string;
  }[];
  const partner = fc.constantFrom(...partnerIds.map(({ id, display_name }) => ({ id, name: display_name })));
  const tags = (await run('crm.tag', 'search_read', [[], ['id']])).result as { id: number }[];
  const lead = fc.record({
    name: text,
    description: orNull(text.map((value) => `<p>${value.replace(/[<>&]/g, '')}</p>`)),
    probability: fc.double({ min: 0, max: 100, noNaN: true }).map((value) => Math.round(value * 8) / 8),
    expected_revenue: fc.integer({ min: -1000, max: 1000 }),
    date_deadline: orNull(day.map((date) => date.toISOString().slice(0, 10))),
    tag_ids: fc.subarray(tags.map(({ id }) => id)),
    priority: orNull(fc.constantFrom('0', '1', '2')),
    partner_id: orNull(partner),
    x_source_ref: orNull(fc.nat(100).map((id) => ({ model: 'res.partner', id: id + 1 }))),
    lead_properties: fc.constantFrom(
      [],
      [
        { name: 'when', type: 'datetime', value: '2026-10-21 01:31:00' },
        { name: 'empty', value: false },
      ],
    ),
  });

  test('a lead is read as it was written, and its values can be written again', async () => {
    await fc.assert(
      fc.asyncProperty(lead, async (values) => {
        const names = Object.keys(values);
        const { result: id, headers } = await run('crm.lead', 'create', [
          { ...values, tag_ids: { set: values.tag_ids } },
        ]);
        expect(headers['preference-applied']).toBe('values=normalized');
        const { result } = await run('crm.lead', 'read', [[id], names]);
        const { id: _, ...read } = result[0];
        expect({ ...read, tag_ids: [...read.tag_ids].sort() }).toEqual({
          ...values,
          tag_ids: [...values.tag_ids].sort(),
        });
        const { tag_ids, ...others } = read;
        await run('crm.lead', 'write', [[id], { ...others, tag_ids: { set: tag_ids } }]);
        expect((await run('crm.lead', 'read', [[id], names])).result).toEqual(result);
        for (const method of ['search_read', 'web_search_read']) {
          const fields =
            method === 'search_read' ? names : Object.fromEntries(names.map((name) => [name, {}]));
          const found = (await run('crm.lead', method, [[['id', '=', id]], fields])).result;
          const [row] = found.records ?? found;
          expect({ ...row, partner_id: null }).toEqual({ ...result[0], partner_id: null });
        }
      }),
      { numRuns: countCases(25) },
    );
  });

  test('an order with lines is written by commands, and times are those of any zone', async () => {
    await fc.assert(
      fc.asyncProperty(
        day,
        fc.constantFrom(...ZONES),
        fc.array(text, { minLength: 1, maxLength: 3 }),
        async (date, zone, names) => {
          const moment = `${date.toISOString().slice(0, 19)}${zone}`;
          const utc = new Date(
            `${moment.slice(0, 19)}${{ '-0530': '-05:30', '+14': '+14:00' }[zone] ?? zone}`,
          );
          fc.pre(utc.getTime() > 0);
          const lines = names.map((name) => ({ name, price_unit: 1.5, product_id: null }));
          const { result: id } = await run('sale.order', 'create', [
            { partner_id: { id: partnerIds[0]!.id }, date_order: moment, order_line: { create: lines } },
          ]);
          const read = async () =>
            (await run('sale.order', 'read', [[id], ['date_order', 'order_line', 'partner_id', 'locked']]))
              .result[0];
          const order = await read();
          expect(order.date_order).toBe(`${utc.toISOString().slice(0, 19)}Z`);
          expect(order.locked).toBe(false);
          expect(order.partner_id).toEqual({ id: partnerIds[0]!.id, name: expect.any(String) });
          const [first, ...others] = order.order_line;
          await run('sale.order', 'write', [
            [id],
            {
              order_line: {
                update: [{ id: first, name: 'changed' }],
                delete: others,
                create: [{ name: 'new', price_unit: 2 }],
              },
            },
          ]);
          const now = await read();
          expect(now.order_line).toHaveLength(2);
          expect(
            (await run('sale.order.line', 'read', [now.order_line, ['name', 'product_id']])).result,
          ).toMatchObject([{ name: 'changed', product_id: null }, { name: 'new' }]);
        },
      ),
      { numRuns: countCases(15) },
    );
  });

  test('a file and the id of a record whose model is in another field are read as they were written', async () => {
    const attachment = fc.record({
      name: text,
      datas: fc.uint8Array({ minLength: 1, maxLength: 60 }).map(printBase64),
      res_model: fc.constant('res.partner'),
      res_id: fc.nat(2 ** 31 - 1),
    });
    await expectRoundTrips('ir.attachment', attachment);
    const { result: id } = await run('ir.attachment', 'create', [{ name: 'a', res_id: null, datas: null }]);
    const { result } = await run('ir.attachment', 'read', [[id], ['res_id', 'datas']]);
    // Odoo reads an empty id of this type as 0, and a file without content as an empty text.
    expect(result).toEqual([{ id, res_id: 0, datas: '' }]);
  });

  test('JSON is read as it was written, with all that looks like another value in it', async () => {
    const inner = fc.constantFrom<unknown>(false, null, '2026-10-21 01:31:00', 'res.partner,3', [10, 'a']);
    const analytic_distribution = orNull(
      fc.dictionary(text, fc.oneof(fc.double({ min: 0, max: 100, noNaN: true }), inner), {
        minKeys: 1,
        maxKeys: 4,
        noNullPrototype: true,
      }),
    );
    const { result: order } = await run('sale.order', 'create', [{ partner_id: partnerIds[0]!.id }]);
    await expectRoundTrips(
      'sale.order.line',
      fc.record({
        order_id: fc.constant({ id: order, name: expect.any(String) }),
        name: text,
        analytic_distribution,
      }),
    );
  });

  /** Creates records, reads them, writes them as they were read, and reads them again. */
  async function expectRoundTrips(
    model: string,
    values: fc.Arbitrary<Record<string, unknown>>,
  ): Promise<void> {
    await fc.assert(
      fc.asyncProperty(values, async (written) => {
        const names = Object.keys(written);
        const { order_id: order, ...others } = written as { order_id?: { id: number } };
        const line = order === undefined ? {} : { order_id: order.id, price_unit: 1 };
        const { result: id } = await run(model, 'create', [{ ...others, ...line }]);
        const { result } = await run(model, 'read', [[id], names]);
        expect(result).toEqual([{ id, ...written }]);
        const { id: _, ...read } = result[0];
        await run(model, 'write', [[id], read]);
        expect((await run(model, 'read', [[id], names])).result).toEqual(result);
      }),
      { numRuns: countCases(25) },
    );
  }

  test('without the header a result is that of Odoo, and with it only values of fields differ', async () => {
    for (const model of ['res.partner', 'crm.lead', 'sale.order', 'sale.order.line', 'product.product']) {
      const plain = (await run(model, 'search_read', [[]], {})).result as Record<string, unknown>[];
      const normalized = (await run(model, 'search_read', [[]])).result as Record<string, unknown>[];
      const types = (await run(model, 'fields_get', [], {})).result as Record<string, { type: string }>;
      expect(normalized).toEqual(
        plain.map((record) =>
          Object.fromEntries(
            Object.entries(record).map(([name, value]) => [name, normalize(value, types[name]!.type)]),
          ),
        ),
      );
    }
  });
});

function printBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function normalize(value: unknown, type: string): unknown {
  if (value === false && type !== 'boolean') return null;
  if (type === 'many2one' && Array.isArray(value)) return { id: value[0], name: value[1] };
  if (type === 'datetime') return `${String(value).replace(' ', 'T')}Z`;
  if (type === 'reference') {
    const [model, id] = String(value).split(',');
    return { model, id: Number(id) };
  }
  return value;
}
