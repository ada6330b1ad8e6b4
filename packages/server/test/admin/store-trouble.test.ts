/** Tests a PostgreSQL that accepts no changes, or does not report whether it has made a change. */

import { createTestSchema, type TestSchema } from '@erp-proxy/stores/testing';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send } from '../harness.ts';
import { createWire } from '../postgres-wire.ts';
import { pause } from '../time.ts';
import { SETTINGS, startAdmin } from './admin-client.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
/** Trouble is noticed at once, its end by a trial every two seconds. This time is longer. */
const LONGER_THAN_TRIALS_MS = 5000;

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names', () => {
  async function start() {
    const schema = await createTestSchema(SERVER_URL);
    closeAfterTest({ close: () => schema.drop() });
    return { schema, ...(await startAdmin({ settings: { ...SETTINGS, 'store.url': schema.url } })) };
  }

  test('a full disk is reported by /readyz, the metric and each change, until there is space again', async () => {
    const { schema, proxy, get, post } = await start();
    const read = async (path: string) => (await send(proxy.url + path)).body.toString();
    expect(await read('/metrics')).toMatch(/^erp_proxy_store_up 1$/m);
    await fillDisk(schema);
    const { status, json } = await post('/keys', { name: 'Shop' });
    expect([status, json.detail]).toEqual([
      503,
      expect.stringContaining("the server's disk is full. Free some space there."),
    ]);
    expect(await read('/metrics')).toMatch(/^erp_proxy_store_up 0$/m);
    expect(JSON.parse(await read('/readyz'))).toMatchObject({
      status: 'degraded',
      checks: { store: expect.stringContaining('disk is full') },
    });
    expect((await get('/status')).json.checks.store.state).toBe('degraded');
    // The state stays while no change is requested.
    await pause(LONGER_THAN_TRIALS_MS);
    expect(await read('/metrics')).toMatch(/^erp_proxy_store_up 0$/m);
    expect((await get('/keys?name=Shop')).json.items, 'reads go on').toEqual([]);
    await schema.query('DROP FUNCTION refuse CASCADE');
    await expect.poll(() => read('/metrics')).toMatch(/^erp_proxy_store_up 1$/m);
    expect((await post('/keys', { name: 'Shop' })).status).toBe(201);
    expect(JSON.parse(await read('/readyz')).checks.store).toBe('ok');
  });

  test('a change whose outcome is unknown is a problem of its own type, without retry-after', async () => {
    const schema = await createTestSchema(SERVER_URL);
    closeAfterTest({ close: () => schema.drop() });
    const wire = await createWire(new URL(schema.url));
    closeAfterTest(wire);
    const { get, post } = await startAdmin({ settings: { ...SETTINGS, 'store.url': wire.url } });
    wire.atCommit = 'lose the server';
    const { status, headers, json } = await post('/keys', { name: 'Shop' });
    expect([status, json.type]).toEqual([500, 'urn:erp-proxy:problem:outcome-unknown']);
    expect(json.detail).toMatch(/may have been made\. Look at the list of keys .* before you try again/);
    expect(headers).not.toHaveProperty('retry-after');
    wire.restore();
    await expect.poll(async () => (await get('/keys?name=Shop')).status).toBe(200);
    expect((await get('/keys?name=Shop')).json.items).toHaveLength(1);
    expect((await get('/audit?action=key.create')).json.items).toHaveLength(1);
  });

  test('a change whose connection the server closes before the commit was not made', async () => {
    const { schema, get, post } = await start();
    await schema.query(`
      CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$;
      CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON client_keys DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION leave()`);
    const { status, json } = await post('/keys', { name: 'Shop' });
    expect([status, json.type]).toEqual([503, 'about:blank']);
    expect((await get('/keys?name=Shop')).json.items).toEqual([]);
  });
});

/** Makes inserts fail with PostgreSQL's error for a full disk. */
async function fillDisk(schema: TestSchema): Promise<void> {
  await schema.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON client_keys FOR EACH ROW EXECUTE FUNCTION refuse();
    CREATE TRIGGER refuse BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse();
    CREATE TRIGGER refuse BEFORE INSERT ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION refuse()`);
}
