import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { speak } from '../../test/speak.ts';
import { type Sandbox, startSandbox } from '../index.ts';

interface Page {
  methods: Record<string, { signature: string; parameters: Record<string, unknown>; api?: string[] }>;
}

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ version: 19 });
});
afterAll(() => sandbox.close());

const readPage = async (model: string) => (await speak(sandbox, `/doc-bearer/${model}.json`)).body as Page;

describe('a page', () => {
  test('shows how a method takes its arguments: order, defaults, kinds', async () => {
    const { methods } = await readPage('sale.order');
    expect(methods['add_line']).toEqual({
      signature: '(product_id, quantity=1, values)',
      parameters: { product_id: {}, quantity: { default: 1 }, values: { kind: 'VAR_KEYWORD' } },
      model: 'sale.order',
      module: 'sale',
    });
    expect(methods['add_products']?.parameters).toEqual({
      product_ids: { kind: 'VAR_POSITIONAL' },
      quantity: { kind: 'KEYWORD_ONLY', default: 1 },
    });
    expect(methods['set_terms']?.parameters).toEqual({
      note: { kind: 'KEYWORD_ONLY' },
      append: { kind: 'KEYWORD_ONLY', default: false },
    });
    expect(Object.keys(methods['estimate_total']?.parameters ?? {})).toEqual(['lines', 'discount']);
  });

  test('distinguishes record methods, model methods and readonly ones', async () => {
    const { methods } = await readPage('sale.order');
    const apiOf = (name: string) => methods[name]?.api;
    expect(['add_line', 'estimate_total', 'read', 'search', 'create'].map(apiOf)).toEqual([
      undefined,
      ['model'],
      ['readonly'],
      ['model', 'readonly'],
      ['model'],
    ]);
  });

  test('omits private and deprecated methods, even if they can be called', async () => {
    const { methods } = await readPage('res.partner');
    for (const name of ['sudo', 'search_fetch', 'read_group', 'check_access_rights', 'toggle_active'])
      expect(methods).not.toHaveProperty(name);
    expect(Object.keys(methods)).toEqual(Object.keys(methods).sort());
  });

  test('of another model has the same ETag, so the ETag does not identify a page', async () => {
    const [partner, order] = await Promise.all(
      ['res.partner', 'sale.order'].map((model) => speak(sandbox, `/doc-bearer/${model}.json`)),
    );
    const tag = partner?.headers.get('etag') ?? '';
    expect(tag).toMatch(/^[0-9a-f]{64}$/);
    expect(order?.headers.get('etag')).toBe(tag);
    expect(order?.text).not.toBe(partner?.text);
    for (const known of [tag, `"${tag}"`, `"x", W/"${tag}"`]) {
      const headers = { 'if-none-match': known };
      expect((await speak(sandbox, '/doc-bearer/sale.order.json', { headers })).status).toBe(304);
    }
    const other = await speak(sandbox, '/doc-bearer/index.json', { headers: { 'if-none-match': tag } });
    expect(other.status).toBe(200);
  });

  test('is also an answer to POST', async () => {
    expect((await speak(sandbox, '/doc-bearer/crm.tag.json', { body: {} })).body).toEqual(
      await readPage('crm.tag'),
    );
  });
});

test('the index lists every model with the methods of its page', async () => {
  const answer = await speak(sandbox, '/doc-bearer/index.json');
  expect(answer.headers.get('etag')).toMatch(/^"[0-9a-f]{64}"$/);
  const { models } = answer.body as { models: { model: string; methods: string[] }[] };
  expect(models.length).toBeGreaterThan(20);
  for (const { model, methods } of models)
    expect(Object.keys((await readPage(model)).methods)).toEqual(methods);
});

test.each<[string, string, Record<string, string>, number]>([
  ['no right', 'res.partner', { authorization: 'bearer 5a17b0c5de302222222222222222222222222222' }, 403],
  ['a wrong key', 'index', { authorization: 'bearer nope' }, 401],
  ['no such model', 'res.nope', {}, 404],
  ['no such database', 'index', { 'x-odoo-database': 'nope', authorization: 'bearer nope' }, 404],
])('%s is refused', async (_, page, headers, status) => {
  expect((await speak(sandbox, `/doc-bearer/${page}.json`, { headers })).status).toBe(status);
});

test.each([16, 17, 18] as const)('%i has no documentation', async (version) => {
  const older = await startSandbox({ version });
  try {
    const answer = await speak(older, '/doc-bearer/res.partner.json');
    expect([answer.status, answer.body]).toEqual([404, undefined]);
  } finally {
    await older.close();
  }
});
