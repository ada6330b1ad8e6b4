/** The methods of a model, through the real proxy, against sandboxes of Odoo 18 and 19. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Client, createClient } from '../src/index.ts';
import { type Gateway, startGateway } from './gateway.ts';
import type { Models } from './models.fixture.ts';

describe.each([18, 19] as const)('Odoo %i', (version) => {
  let gateway: Gateway;
  let client: Client<Models>;

  beforeAll(async () => {
    gateway = await startGateway(version);
    client = gateway.connect<Models>();
  });
  beforeEach(() => gateway.odoo.reset());
  afterAll(() => gateway.close());

  test('reads exactly the fields that were asked for, and the id', async () => {
    const partners = client.model('res.partner');
    const rows = await partners.searchRead([['id', 'in', [9, 10]]], {
      fields: ['name', 'country_id'],
      order: 'id desc',
    });
    expect(rows.map(({ id }) => id)).toEqual([10, 9]);
    expect(Object.keys(rows[0] ?? {}).sort()).toEqual(['country_id', 'id', 'name']);
    expect(await partners.read([9], { fields: ['name'] })).toEqual([{ id: 9, name: 'Wood Corner' }]);
    expect(await partners.one(9, { fields: ['name'] })).toEqual({ id: 9, name: 'Wood Corner' });
    expect(await partners.one(987654, { fields: ['name'] })).toBeNull();
  });

  test('searches, counts and finds names', async () => {
    const partners = client.model('res.partner');
    const ids = await partners.search([['id', '<', 12]], { order: 'id', limit: 3, offset: 1 });
    expect(ids).toHaveLength(3);
    expect(await partners.count([['id', 'in', ids]])).toBe(3);
    expect(await partners.count()).toBeGreaterThan(3);
    const names = await partners.nameSearch('wood', { domain: [['id', '=', 9]], limit: 5 });
    expect(names).toEqual([[9, expect.stringContaining('Wood Corner')]]);
    expect((await partners.nameSearch('wood')).length).toBeGreaterThan(0);
  });

  test('creates, changes and deletes records', async () => {
    const partners = client.model('res.partner');
    const id = await partners.create({ name: 'New', child_ids: [[0, 0, { name: 'Child' }]] });
    const ids = await partners.createMany([{ name: 'One' }, { name: 'Two', email: undefined }]);
    expect(ids).toHaveLength(2);
    expect(await partners.update(id, { name: 'Newer', country_id: null })).toBe(true);
    expect(await partners.write([id, ...ids], { ref: 'R' })).toBe(true);
    expect(await partners.one(id, { fields: ['name', 'ref', 'country_id'] })).toEqual({
      id,
      name: 'Newer',
      ref: 'R',
      country_id: false,
    });
    expect(await partners.delete(ids)).toBe(true);
    expect(await partners.search([['id', 'in', ids]])).toEqual([]);
  });

  test('updates the records that exist and creates the others', async () => {
    const partners = client.model('res.partner');
    const [known = 0] = await partners.createMany([{ name: 'Old', ref: 'A', active: false }]);
    const rows = [
      { name: 'B', ref: 'B' },
      { name: 'New', ref: 'A' },
      { name: 'C', ref: 'C' },
    ];
    const results = await partners.upsert('ref', rows);
    expect(results.map(({ isCreated }) => isCreated)).toEqual([true, false, true]);
    expect(results[1]?.id).toBe(known);
    const ids = results.map(({ id }) => id);
    const written = await client
      .withContext({ active_test: false })
      .model('res.partner')
      .read(ids, { fields: ['name', 'ref'] });
    expect(written).toEqual(rows.map((row, at) => ({ id: ids[at], ...row })));
    const again = await partners.upsert(['ref', 'name'], rows);
    expect(again).toEqual(ids.map((id) => ({ id, isCreated: false })));
    await partners.create({ name: 'Other', ref: 'B' });
    await expect(partners.upsert('ref', rows)).rejects.toThrow(/several records with the same ref/);
    await expect(partners.upsert('ref', [{ ref: 'X' }, { ref: 'X' }])).rejects.toThrow(/Rows 0 and 1/);
    // @ts-expect-error: without the key, as a program in JavaScript may call it
    await expect(partners.upsert('ref', [{ name: 'X' }])).rejects.toThrow('Row 0 has no value for ref.');
    expect(await partners.upsert('ref', [])).toEqual([]);
  });

  test('calls methods, describes models and reads all pages', async () => {
    const orders = client.model('sale.order');
    await orders.call('action_confirm', [[1]]);
    expect((await orders.one(1, { fields: ['state'] }))?.state).toBe('sale');
    expect((await orders.describe()).state.selection).toContainEqual(['draft', 'Quotation']);
    const pages = orders.paginate([['id', '<', 6]], { fields: ['name'], pageSize: 2 });
    const ids = [];
    for await (const { id } of pages) ids.push(id);
    expect(ids).toEqual([1, 2, 3, 4, 5]);
    expect((await pages.toArray({ limit: 3 })).map(({ id }) => id)).toEqual([1, 2, 3]);
    expect((await pages.toArray()).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
  });

  test('sends a batch of any size, with a result or an error for each call', async () => {
    const calls = Array.from({ length: 230 }, (_, at) => ({
      action: at === 150 ? 'no_such_method' : 'search_count',
      model_id: 'res.partner',
      params: [[['id', '=', at]]],
    }));
    const results = await client.batch<number>(calls);
    expect(results).toHaveLength(230);
    expect(results[9]).toEqual({ status: 'fulfilled', value: 1 });
    expect(results[150]).toMatchObject({ status: 'rejected', reason: { type: 'method_not_found' } });
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await client.batch([])).toEqual([]);
  });

  test('adds the contexts of the client, of a derived client and of the call', async () => {
    const archived = await client.model('res.partner').create({ name: 'Gone', active: false });
    const domain = [['id', '=', archived]] as const;
    const derived = client.withContext({ active_test: false, tz: 'Europe/Paris' });
    expect(await client.model('res.partner').count(domain)).toBe(0);
    expect(await derived.model('res.partner').count(domain)).toBe(1);
    const context = { active_test: true };
    expect(await derived.model('res.partner').count(domain, { context })).toBe(0);
    await expect(derived.withContext({ tz: 'Mars' }).model('res.partner').count()).rejects.toMatchObject({
      type: 'invalid_params',
    });
  });

  test('reads and writes normalized values', async () => {
    const normalized = gateway.connectNormalized<Models>();
    const contacts = normalized.model('res.partner');
    const country_id = { id: 20, name: 'Belgium' };
    const id = await contacts.create({
      name: 'New',
      country_id,
      email: null,
      child_ids: { create: [{ name: 'Child', country_id: 233 }] },
    });
    const fields = ['name', 'country_id', 'email', 'child_ids', 'create_date'] as const;
    const row = await contacts.one(id, { fields });
    expect(row).toMatchObject({ id, name: 'New', country_id, email: null });
    expect(row?.create_date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const children = row?.child_ids ?? [];
    expect(children).toHaveLength(1);
    await contacts.update(id, { child_ids: { update: [{ id: children[0] as number, ref: 'R' }] } });
    const [child] = await contacts.searchRead([['id', 'in', children]], { fields: ['ref', 'parent_id'] });
    expect(child).toMatchObject({ ref: 'R', parent_id: { id } });
    const pages = contacts.paginate([['id', '=', id]], { fields: ['country_id'], order: 'name' });
    expect(await pages.toArray()).toEqual([{ id, country_id }]);
    expect(await contacts.searchRead([['id', '=', 0]])).toEqual([]);
    const upserted = await contacts.upsert(['country_id', 'name'], [{ name: 'New', country_id, ref: 'U' }]);
    expect(upserted).toEqual([{ id, isCreated: false }]);
    const [first] = await normalized.batch([
      { action: 'read', model_id: 'res.partner', params: [[id], ['ref', 'country_id']] },
    ]);
    expect(first).toEqual({ status: 'fulfilled', value: [{ id, ref: 'U', country_id }] });
    // Untyped, because the types refuse this call.
    const by = contacts.upsert as (by: string, rows: object[]) => Promise<unknown>;
    await expect(by('create_date', [{ create_date: new Date() }])).rejects.toThrow(/cannot be compared/);
  });

  test('throws errors with the members of the answer', async () => {
    // Untyped, because the types would refuse these calls.
    const any = gateway.connect();
    await expect(any.model('res.partner').read([1], { fields: ['nmae'] })).rejects.toMatchObject({
      name: 'ErpProxyError',
      code: 200,
      type: 'query_invalid',
      retryable: false,
      status: 200,
      requestId: expect.stringMatching(/./),
      nearest: expect.arrayContaining(['name']),
    });
    await expect(any.model('res.parnter').count()).rejects.toMatchObject({
      type: 'model_not_found',
      nearest: expect.arrayContaining(['res.partner']),
    });
    await expect(any.execute({ action: '_x', model_id: 'res.partner' })).rejects.toMatchObject({
      code: -32001,
      type: 'action_invalid',
      status: 400,
    });
  });
});

describe('the options of a client', () => {
  test('come from environment variables', async () => {
    const gateway = await startGateway(18, { settings: { 'vault.masterKey': 'A'.repeat(43).concat('=') } });
    const { url, db, users } = gateway.odoo;
    const { userId, apiKey } = users.admin;
    await gateway.proxy.app.instances.add({ name: 'prod', url, db, user_id: userId, api_key: apiKey });
    const before = { ...process.env };
    Object.assign(process.env, {
      ERP_PROXY_URL: `${gateway.proxy.url}/`,
      ERP_PROXY_KEY: gateway.proxy.key,
      ERP_PROXY_INSTANCE: 'prod',
    });
    try {
      expect(
        await createClient()
          .model('res.partner')
          .count([['id', '=', 9]]),
      ).toBe(1);
    } finally {
      process.env = before;
      await gateway.close();
    }
  });

  test('may have an instance as calls have it', async () => {
    const gateway = await startGateway(18, { settings: { 'vault.masterKey': 'A'.repeat(43).concat('=') } });
    const { url, db, users } = gateway.odoo;
    const server = { url, db, user_id: users.admin.userId, api_key: users.admin.apiKey };
    await gateway.proxy.app.instances.add({ name: 'prod', ...server });
    try {
      for (const instance of [server, { name: 'prod' }]) {
        const client = createClient({ url: gateway.proxy.url, key: gateway.proxy.key, instance });
        expect(await client.model('res.partner').count([['id', '=', 9]])).toBe(1);
      }
    } finally {
      await gateway.close();
    }
  });

  test('are checked, and no message shows the key', () => {
    const right = { url: 'http://127.0.0.1:8787', key: 'ep_x', instance: 'prod' };
    expect(() => createClient({ ...right, url: 'ftp://x' })).toThrow(/`url` is not the address/);
    expect(() => createClient({ ...right, url: undefined })).toThrow(/ERP_PROXY_URL/);
    expect(() => createClient({ ...right, key: undefined })).toThrow(/ERP_PROXY_KEY/);
    expect(() => createClient({ ...right, key: 'a secret' })).toThrow(/^(?!.*a secret)/);
    expect(() => createClient({ ...right, instance: undefined })).toThrow(/ERP_PROXY_INSTANCE/);
  });
});
