/** Tests the answers of an export: records, formats, order, limits and headers. */
import { expect, test } from 'vitest';
import {
  openExport,
  printRecord,
  readIds,
  readRecords,
  startSandboxStage,
  startTableStage,
} from './export-stage.ts';

const COMPANIES = [['is_company', '=', true]];

test('gives all records that match, the lowest id first, with id, one in each line', async () => {
  const stage = await startSandboxStage();
  const answer = await stage.export({ domain: COMPANIES, fields: ['name', 'country_id'] });
  expect(answer).toMatchObject({ status: 200, isBroken: false });
  expect(answer.headers['content-type']).toBe('application/x-ndjson');
  expect(answer.headers['server-timing']).toMatch(/^proxy;dur=/);
  const called = await stage.proxy.call({
    action: 'search_read',
    model_id: 'res.partner',
    params: [COMPANIES],
    keyword: { fields: ['name', 'country_id'], order: 'id' },
    erp_instance: { name: 'prod' },
  });
  expect(called.json.result.length).toBeGreaterThan(5);
  expect(readRecords(answer)).toEqual(called.json.result);
});

test.each([14, 16, 18, 19] as const)('exports from Odoo %i', async (version) => {
  const stage = await startSandboxStage({ settings: { 'upstream.protocol': 'auto' } }, version);
  const answer = await stage.export({ fields: ['name'] });
  expect(answer.status).toBe(200);
  const ids = readIds(answer);
  expect(ids.length).toBeGreaterThan(20);
  expect(ids).toEqual([...ids].sort((one, other) => one - other));
});

test('reads page by page above the last id, never by offset, until a page is empty', async () => {
  const stage = await startTableStage({ count: 1000 });
  const answer = await stage.export({ domain: ['|', ['a', '=', 1], ['b', '=', 2]] });
  expect(readIds(answer)).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
  expect(stage.calls[0]?.domain).toEqual(['|', ['a', '=', 1], ['b', '=', 2]]);
  const later = stage.calls.slice(1);
  expect(later.length).toBeGreaterThan(1);
  // The condition on the id comes first, so that it restricts the whole domain, even if that begins with an "or".
  for (const { domain, order, ...call } of stage.calls.slice(1)) {
    expect(domain).toEqual([['id', '>', call.after], '|', ['a', '=', 1], ['b', '=', 2]]);
    expect(order).toBe('id');
    expect(call).not.toHaveProperty('offset');
  }
  expect(later.at(-1)?.after).toBe(1000);
});

test.each([14, 16, 18, 19] as const)(
  'gives the attachments that a search finds on each page, Odoo %i',
  async (version) => {
    const stage = await startSandboxStage({ settings: { 'upstream.protocol': 'auto' } }, version);
    const call = async (action: string, params: unknown[]) =>
      (await stage.proxy.call({ action, model_id: 'ir.attachment', params, erp_instance: { name: 'prod' } }))
        .json.result;
    const files = Array.from({ length: 900 }, (_, at) => ({
      name: `${at}.png`,
      description: at % 3 === 0 ? 'third' : false,
      // The ORM stores images of records in this form.
      ...(at % 2 === 0 ? { res_model: 'res.partner', res_id: 9, res_field: 'image_1920' } : {}),
    }));
    const [first] = await call('create', [files]);
    const domains = [
      [],
      [['name', 'like', 'png']],
      ['|', ['description', '=', 'third'], ['name', '=', '1.png']],
      ['!', ['description', '=', 'third']],
      [['res_field', '!=', false]],
      [['id', '>', first + 10]],
      ['|', ['id', '=', first], ['name', 'like', '1']],
    ];
    for (const domain of domains) {
      const found: number[] = await call('search', [domain]);
      expect(found.length).toBeGreaterThan(100);
      const given = readIds(await stage.export({ model_id: 'ir.attachment', domain, fields: ['name'] }));
      expect(given, JSON.stringify(domain)).toEqual(found.sort((one, other) => one - other));
      expect(await call('search_count', [domain])).toBe(given.length);
      const after = given[110];
      const rest = { model_id: 'ir.attachment', domain, fields: ['name'], after };
      expect(readIds(await stage.export(rest))).toEqual(given.slice(111));
    }
  },
);

test.each([0, 500, 20_000])(
  'goes on behind %i messages that Odoo drops from its pages, as the user may not see them',
  async (dropped) => {
    const visible = [1, 2, 3, dropped + 10, dropped + 11];
    const stage = await startTableStage({
      count: 0,
      async script(socket, { after, limit }) {
        const { answerLikeOdoo, printResult } = await import('../scripted-upstream.ts');
        const page = visible.filter((id) => id > after && id <= after + limit);
        answerLikeOdoo(socket, printResult(`[${page.map(printRecord).join(', ')}]`));
        return true;
      },
    });
    const answer = await stage.export({ model_id: 'mail.message' });
    expect(answer.isBroken).toBe(false);
    expect(readIds(answer)).toEqual(visible);
    // For other models, an empty page is the end: the proxy does not ask again.
    const before = stage.calls.length;
    await stage.export({ after: dropped + 11 });
    expect(stage.calls.length).toBe(before + 1);
  },
);

test('passes the bytes of records on as they came', async () => {
  const print = (id: number) =>
    `{"id": ${id}, "a": 1.0, "b": 9007199254740993, "c": "é\\u00e9\\n\\"}]", "d": [{"x": [1, 2]}], "e": false}`;
  const stage = await startTableStage({ count: 250, print });
  const { text } = await stage.export();
  expect(text).toBe(Array.from({ length: 250 }, (_, index) => `${print(index + 1)}\n`).join(''));
});

test('a record takes one line, also from a server that breaks lines between tokens', async () => {
  const stage = await startTableStage({
    count: 3,
    print: (id) => `{\r\n  "name": "A",\n  "id": ${id}\n}`,
  });
  const answer = await stage.export();
  expect(readRecords(answer)).toEqual([1, 2, 3].map((id) => ({ id, name: 'A' })));
});

test('white space may follow a long answer', async () => {
  const text = 'x'.repeat(40_000);
  const stage = await startTableStage({
    count: 0,
    async script(socket, { domain }) {
      const { answerLikeOdoo, printResult } = await import('../scripted-upstream.ts');
      const page = domain[0] === undefined ? `{"id": 1, "name": "${text}"}` : '';
      answerLikeOdoo(socket, `${printResult(`[${page}]`)}${' \r\n'.repeat(100_000)}`);
      return true;
    },
  });
  expect(readRecords(await stage.export())).toEqual([{ id: 1, name: text }]);
});

test('ids can be negative and larger than 2^31', async () => {
  const ids = [-7, -2, 5, 2 ** 31, 2 ** 40, 2 ** 53 - 1];
  const stage = await startTableStage({
    count: 0,
    async script(socket, { domain, limit }) {
      const { answerLikeOdoo, printResult } = await import('../scripted-upstream.ts');
      const after = domain[0]?.[2] ?? Number.NEGATIVE_INFINITY;
      const page = ids.filter((id) => id > after).slice(0, Math.min(limit, 2));
      answerLikeOdoo(socket, printResult(`[${page.map(printRecord).join(', ')}]`));
      return true;
    },
  });
  expect(readIds(await stage.export())).toEqual(ids);
  expect(readIds(await stage.export({ after: -7 }))).toEqual(ids.slice(1));
  expect(readIds(await stage.export({ after: 2 ** 40 }))).toEqual(ids.slice(-1));
});

test('`limit` is the maximum of all records, and `after` goes on behind an id', async () => {
  const stage = await startTableStage({ count: 1000 });
  expect(readIds(await stage.export({ limit: 250 }))).toHaveLength(250);
  expect(stage.calls.map(({ limit }) => limit).reduce((sum, limit) => sum + limit)).toBe(250);
  for (const limit of [0, null, false])
    expect(readIds(await stage.export({ limit, after: 980 }))).toHaveLength(20);
  expect(readIds(await stage.export({ after: 990, limit: 3 }))).toEqual([991, 992, 993]);
  expect(readIds(await stage.export({ after: 1000 }))).toEqual([]);
});

test('passes the context on, `active_test` too', async () => {
  const stage = await startSandboxStage();
  const { proxy } = stage;
  const id = (
    await proxy.call({
      action: 'create',
      model_id: 'res.partner',
      params: [{ name: 'Archived', active: false }],
      erp_instance: { name: 'prod' },
    })
  ).json.result;
  const domain = [['name', '=', 'Archived']];
  expect(readIds(await stage.export({ domain, fields: ['name'] }))).toEqual([]);
  expect(readIds(await stage.export({ domain, fields: ['name'], context: { active_test: false } }))).toEqual([
    id,
  ]);
  const table = await startTableStage({ count: 1 });
  await table.export({ context: { lang: 'fr_BE', tz: 'Europe/Brussels' } });
  for (const { context } of table.calls)
    expect(context).toMatchObject({ lang: 'fr_BE', tz: 'Europe/Brussels' });
});

test('normalized values on request', async () => {
  const stage = await startSandboxStage();
  const body = { domain: COMPANIES, fields: ['name', 'country_id', 'create_date', 'website'], limit: 1 };
  const plain = await stage.export(body);
  expect(plain.headers).not.toHaveProperty('preference-applied');
  const normalized = await stage.export(body, { prefer: 'values=normalized' });
  expect(normalized.headers['preference-applied']).toBe('values=normalized');
  const [record] = readRecords(normalized);
  expect(record.country_id).toEqual({ id: expect.any(Number), name: expect.any(String) });
  expect(record.create_date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});

test('an export without records is empty, and has a header as CSV', async () => {
  const stage = await startTableStage({ count: 0 });
  expect(await stage.export()).toMatchObject({ status: 200, text: '', isBroken: false });
  const sandbox = await startSandboxStage();
  const nothing = [['id', '=', 0]];
  const csv = await sandbox.export({ domain: nothing, format: 'csv', fields: ['name', 'id', 'email'] });
  expect(csv).toMatchObject({ status: 200, text: 'id,name,email\r\n', isBroken: false });
});

test('CSV: columns in the order of `fields`, typed cells, harmless formulas', async () => {
  const stage = await startSandboxStage();
  const { proxy } = stage;
  const create = async (values: object) =>
    (
      await proxy.call({
        action: 'create',
        model_id: 'res.partner',
        params: [values],
        erp_instance: { name: 'prod' },
      })
    ).json.result;
  const first = await create({
    name: 'Comma, "quotes"\nand a line',
    phone: '+32 2 290 34 90',
    comment: '=HYPERLINK("http://x")',
    is_company: true,
    country_id: 233,
  });
  const second = await create({ name: '-2+3', is_company: false });
  const answer = await stage.export({
    domain: [['id', 'in', [first, second]]],
    fields: ['name', 'phone', 'is_company', 'country_id', 'category_id', 'color'],
    format: 'csv',
  });
  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
  expect(answer.headers).not.toHaveProperty('preference-applied');
  expect(answer.text).toBe(
    [
      'id,name,phone,is_company,country_id,category_id,color',
      `${first},"Comma, ""quotes""\nand a line",'+32 2 290 34 90,true,233,[],0`,
      `${second},'-2+3,,false,,[],0`,
      '',
    ].join('\r\n'),
  );
});

test('the answer is compressed for a caller that accepts it', async () => {
  const stage = await startTableStage({ count: 500 });
  const response = await openExport(stage.proxy, stage.body, { 'accept-encoding': 'gzip' });
  expect(response.headers['content-encoding']).toBe('gzip');
  const { createGunzip } = await import('node:zlib');
  const { text } = await import('node:stream/consumers');
  expect(readIds({ text: await text(response.pipe(createGunzip())) })).toHaveLength(500);
});
