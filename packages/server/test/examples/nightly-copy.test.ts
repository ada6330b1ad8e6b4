/** Tests the nightly copy into PostgreSQL of examples/ against the real proxy, a sandbox and a real database. */
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasCommand, runProgram, type Shop, startShop } from './shop.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
const root = fileURLToPath(new URL('../../../../', import.meta.url));
const missing =
  SERVER_URL === '' ? 'TEST_POSTGRES_URL is not set' : hasCommand('psql') ? '' : 'psql is not installed';

describe.skipIf(missing !== '')(`the nightly copy${missing === '' ? '' : ` (${missing})`}`, () => {
  const schema = `nightly_copy_${process.pid}`;
  let shop: Shop;
  let database: Client;
  beforeAll(async () => {
    shop = await startShop();
    database = new Client({ connectionString: SERVER_URL });
    await database.connect();
    await database.query(`CREATE SCHEMA ${schema}`);
    await database.query(`SET search_path = ${schema}`);
  });
  afterAll(async () => {
    await database?.query(`DROP SCHEMA ${schema} CASCADE`);
    await database?.end();
    await shop.close();
  });

  const copy = () =>
    runProgram(['sh', `${root}examples/nightly-copy/copy-partners.sh`], shop, {
      env: {
        ERP_PROXY: `${process.execPath} ${root}packages/server/src/main.ts`,
        DATABASE_URL: `${SERVER_URL}?options=-csearch_path%3D${schema}`,
      },
    });
  const call = async (action: string, params: unknown[], keyword: object = {}) =>
    (
      await shop.proxy.call({
        action,
        model_id: 'res.partner',
        params,
        keyword: { ...keyword, context: { active_test: false } },
        erp_instance: { name: 'prod' },
      })
    ).json.result;

  test('has what Odoo has, after changes too', async () => {
    const name = 'Quote " comma , back\\slash\nline Zoë';
    const created = await call('create', [{ name, active: false, country_id: 233 }]);
    expect(await copy()).toMatchObject({ status: 0, stderr: '' });
    const read = async () => (await database.query('SELECT * FROM odoo_partner ORDER BY id')).rows;
    const rows = await read();
    const records = await call('search_read', [[]], { fields: ['name', 'email', 'is_company'], order: 'id' });
    expect(rows.map(({ id, name, email, is_company }) => [Number(id), name, email, is_company])).toEqual(
      records.map((one: { id: number; name: string; email: string | false; is_company: boolean }) => [
        one.id,
        one.name,
        one.email === false ? null : one.email,
        one.is_company,
      ]),
    );
    expect(rows.at(-1)).toMatchObject({ id: String(created), name, country: 'United States' });
    expect(rows.at(-1).write_date).toBeInstanceOf(Date);

    await call('unlink', [[created]]);
    await call('write', [[rows[0].id], { name: 'Renamed' }]);
    expect(await copy()).toMatchObject({ status: 0, stderr: '' });
    const later = await read();
    expect(later).toHaveLength(rows.length - 1);
  });

  test('leaves the table as it was if the export fails', async () => {
    expect(await copy()).toMatchObject({ status: 0 });
    const before = (await database.query('SELECT count(*) FROM odoo_partner')).rows;
    const ran = await runProgram(['sh', `${root}examples/nightly-copy/copy-partners.sh`], shop, {
      key: 'ep_wrong',
      env: {
        ERP_PROXY: `${process.execPath} ${root}packages/server/src/main.ts`,
        DATABASE_URL: `${SERVER_URL}?options=-csearch_path%3D${schema}`,
      },
    });
    expect(ran.status).not.toBe(0);
    expect((await database.query('SELECT count(*) FROM odoo_partner')).rows).toEqual(before);
  });
});
