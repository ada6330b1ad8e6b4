/** Tests `changes()` of the client with the real proxy. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isErpProxyError } from '../src/index.ts';
import { type Gateway, startGateway } from './gateway.ts';
import type { Models } from './models.fixture.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('gives each answer with its cursor, and goes on from a stored one', async () => {
  const partners = gateway.connect<Models>().model('res.partner');
  const domain = [['parent_id', '=', false]] as const;
  const query = { fields: ['name', 'ref'], limit: 4 } as const;
  const copy = new Map<number, string | false>();
  let since: string | null = null;
  let pages = 0;
  for await (const page of partners.changes(domain, { ...query, since })) {
    for (const { change, id, record } of page.changes) {
      if (change === 'upsert') copy.set(id, record.ref);
      else copy.delete(id);
    }
    since = page.cursor;
    pages++;
  }
  expect(pages).toBeGreaterThan(1);
  expect([...copy.keys()].sort((one, other) => one - other)).toEqual(
    await partners.search(domain, { order: 'id' }, { context: { active_test: false } }),
  );
  await partners.update(9, { ref: 'changed' });
  const next = await partners.changes(domain, { ...query, since }).next();
  expect(next.value).toMatchObject({
    changes: [{ change: 'upsert', id: 9, record: { ref: 'changed' } }],
    more: false,
  });
});

test('takes the context of the client, values in normalized form, and throws the errors of the proxy', async () => {
  const client = gateway.connectNormalized<Models>().withContext({ lang: 'en_US' });
  const partners = client.model('res.partner');
  const first = await partners.changes([['id', '=', 9]], { fields: ['country_id'], since: null }).next();
  expect(first.value).toMatchObject({ changes: [{ record: { country_id: { id: expect.any(Number) } } }] });
  const refused = partners.changes([['id', '=', 9]], { fields: ['country_id'], since: 'stale' }).next();
  await expect(refused).rejects.toSatisfy(
    (error) => isErpProxyError(error) && error.type === 'invalid_request',
  );
});
