/** Tests that if the audit cannot record an administrative action, nothing is changed and the caller gets an error. */
import { describe, expect, test } from 'vitest';
import { SETTINGS, startAdmin } from './admin-client.ts';
import { openRefusingPostgres, openRefusingSqlite } from './refusing-store.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

describe.each([
  { name: 'SQLite', open: openRefusingSqlite, isSkipped: false },
  {
    name: 'PostgreSQL (TEST_POSTGRES_URL)',
    open: () => openRefusingPostgres(SERVER_URL),
    isSkipped: SERVER_URL === '',
  },
])('$name', ({ open, isSkipped }) => {
  test.skipIf(isSkipped)('changes no key and no instance if the action cannot be recorded', async () => {
    const { url, refuseAudit } = await open();
    const { get, post, patch, remove, listAdminActions } = await startAdmin({
      settings: { ...SETTINGS, 'store.url': url },
    });
    const { id } = (await post('/keys', { name: 'Shop' })).json;
    const prod = {
      name: 'prod',
      url: 'https://erp.example.com',
      db: 'prod',
      user_id: 2,
      api_key: 'odoo-secret-1',
    };
    expect((await post('/instances', prod)).status).toBe(201);
    const read = async () => [
      (await get('/keys')).json.items,
      (await get('/instances')).json.items,
      await listAdminActions(),
    ];
    const before = await read();
    await refuseAudit();
    const answers = [
      await post('/keys', { name: 'Second' }),
      await patch(`/keys/${id}`, { name: 'Other' }),
      await post(`/keys/${id}/rotate`, { overlap_seconds: 0 }),
      await post(`/keys/${id}/revoke`),
      await post('/instances', { ...prod, name: 'second' }),
      await patch('/instances/prod', { db: 'other' }),
      await remove('/instances/prod'),
    ];
    for (const { status } of answers) expect(status).toBeGreaterThanOrEqual(500);
    expect(await read()).toEqual(before);
  });
});
