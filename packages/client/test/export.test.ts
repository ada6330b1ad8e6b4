/** Tests `export` of a model: records while they arrive, and broken connections. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient, isErpProxyError } from '../src/index.ts';
import { type Gateway, startGateway } from './gateway.ts';
import type { Models } from './models.fixture.ts';

let gateway: Gateway;
let client: Client<Models>;
beforeAll(async () => {
  gateway = await startGateway(18);
  client = gateway.connect<Models>();
});
afterAll(() => gateway.close());

const IN_A_COUNTRY = [['country_id', '!=', false]] as const;

test('gives the records that search_read gives, by id', async () => {
  const partners = client.model('res.partner');
  const rows = await partners.export(IN_A_COUNTRY, { fields: ['name', 'country_id'] }).toArray();
  expect(rows).toEqual(
    await partners.searchRead(IN_A_COUNTRY, { fields: ['name', 'country_id'], order: 'id' }),
  );
  expect(rows.length).toBeGreaterThan(5);
  expect(await partners.export(IN_A_COUNTRY, { fields: ['name'] }).toArray({ limit: 2 })).toHaveLength(2);
  expect(await partners.export(IN_A_COUNTRY, { fields: ['name'], limit: 3 }).toArray()).toHaveLength(3);
  const after = rows[2]!.id;
  const [next] = await partners.export(IN_A_COUNTRY, { fields: ['name'], after }).toArray({ limit: 1 });
  expect(next?.id).toBe(rows[3]!.id);
});

test('normalized values, the context of the client, and errors of Odoo', async () => {
  const normalized = gateway.connectNormalized<Models>().model('res.partner');
  const [row] = await normalized.export(IN_A_COUNTRY, { fields: ['country_id'], limit: 1 }).toArray();
  expect(row?.country_id).toEqual({ id: expect.any(Number), name: expect.any(String) });
  const id = await client.model('res.partner').create({ name: 'Archived export', active: false });
  const archived = client.withContext({ active_test: false }).model('res.partner');
  const found = await archived.export([['name', '=', 'Archived export']], { fields: ['name'] }).toArray();
  expect(found.map((one) => one.id)).toEqual([id]);
  const wrong = gateway
    .connect()
    .model('res.partner')
    .export([], { fields: ['nmae'] });
  const error = await wrong.toArray().catch((caught) => caught);
  expect(error).toMatchObject({ type: 'query_invalid', retryable: false });
  expect(isErpProxyError(error)).toBe(true);
});

test('gives a CSV file, in the form that is asked for', async () => {
  const partners = client.model('res.partner');
  const id = await partners.create({ name: '=1;2' });
  const only = [['id', '=', id]] as const;
  const read = async (query: object) =>
    (await Array.fromAsync(partners.exportCsv(only, { fields: ['name'], ...query }))).join('');
  expect(await read({})).toBe(`id,name\r\n${id},'=1;2\r\n`);
  const form = { bom: true, delimiter: ';', escapeFormulas: false };
  expect(await read(form)).toBe(`\ufeffid;name\r\n${id};"=1;2"\r\n`);
  expect(await read({ limit: 1, after: id })).toBe('id,name\r\n');
  await expect(read({ delimiter: 'x' })).rejects.toMatchObject({ type: 'invalid_request' });
});

test('a loop that ends early ends the export in the proxy', async () => {
  for await (const row of client.model('res.partner').export([], { fields: ['name'] })) {
    expect(row.id).toBeGreaterThan(0);
    break;
  }
  await expect
    .poll(() => gateway.proxy.app.databaseLimiters.states()[0])
    .toMatchObject({ backgroundRunning: 0, backgroundWaiting: 0 });
  const signal = AbortSignal.abort(new Error('stop'));
  const aborted = client.model('res.partner').export([], { fields: ['name'] }, { signal });
  await expect(aborted.toArray()).rejects.toThrow('stop');
});

interface Flaky {
  url: string;
  bodies: { after?: number; limit?: number }[];
  server: Server;
}

/** Serves the records 1 to 10. Each request gets three records and is cut off within the next one. */
async function startFlaky(perRequest: number): Promise<Flaky> {
  const bodies: Flaky['bodies'] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const body = JSON.parse(text) as { after?: number; limit?: number };
    bodies.push(body);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const first = (body.after ?? 0) + 1;
    const last = Math.min(10, first + perRequest - 1);
    for (let id = first; id <= last; id++) response.write(`{"id": ${id}, "name": "é${id}"}\n`);
    if (last === 10) response.end();
    else response.write(`{"id": ${last + 1}, "na`, () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, server };
}

test('goes on behind the last record after a broken connection', async () => {
  const { url, bodies, server } = await startFlaky(3);
  try {
    const rows = await createClient({ url, key: 'ep_test', instance: 'prod' })
      .model('res.partner')
      .export([], { fields: ['name'], limit: 10 })
      .toArray();
    expect(rows.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(bodies.map(({ after, limit }) => [after, limit])).toEqual([
      [undefined, 10],
      [3, 7],
      [6, 4],
      [9, 1],
    ]);
  } finally {
    server.close();
  }
});

test('gives up after as many attempts without a record as a call has', async () => {
  const { url, bodies, server } = await startFlaky(0);
  try {
    const pages = createClient({ url, key: 'ep_test', instance: 'prod', retries: 1 })
      .model('res.partner')
      .export([], { fields: ['name'] });
    await expect(pages.toArray()).rejects.toMatchObject({ type: 'connection_failed', retryable: true });
    expect(bodies).toHaveLength(2);
  } finally {
    server.close();
  }
});
