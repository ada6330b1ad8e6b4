/** Tests `POST /api/erp/changes` from the caller's side. */
import { randomBytes } from 'node:crypto';
import { MULTI_CALL_ROUTES } from '@erp-proxy/http/testing';
import type { Sandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterFile } from '../close-after-test.ts';
import { makeFolder } from '../process/program.ts';
import { addInstance, type ChangesStage, startStage } from './stage.ts';

let shared: Promise<ChangesStage> | null = null;

/** Starts a stage once, for tests that do not change it. */
function startShared(): Promise<ChangesStage> {
  shared ??= startStage({}, { version: 18 }, closeAfterFile);
  return shared;
}

/** The counted calls, without the proxy's question when the instance's key ends. */
function countCalls({ requests }: Sandbox): [string, number][] {
  return Object.entries(requests.calls).filter(([call]) => !call.startsWith('res.users.'));
}

const CONTACTS = { domain: [['is_company', '=', true]], fields: ['name', 'ref'] };
const REF = { fields: ['ref'] };

test.each([14, 16, 18, 19] as const)(
  'gives all records that match first, then only what has changed: Odoo %i',
  async (version) => {
    const { sandbox, ask, askAll } = await startStage({ 'upstream.protocol': 'auto' }, { version });
    const first = await askAll(CONTACTS);
    expect(first.changes.length).toBeGreaterThan(3);
    expect(first.changes.map(({ id }) => id)).toEqual(
      first.changes.map(({ id }) => id).sort((a, b) => a - b),
    );
    expect(first.changes[0]).toEqual({
      change: 'upsert',
      id: 1,
      at: '2026-11-21T01:30:31Z',
      record: { id: 1, name: expect.any(String), ref: expect.anything() },
    });
    const idle = await ask({ ...CONTACTS, since: first.cursor });
    expect(idle.json.result).toEqual({ changes: [], cursor: expect.any(String), more: false });
    const transaction = sandbox.begin();
    transaction.write('res.partner', 9, { ref: 'Changed' });
    transaction.write('res.partner', 10, { is_company: false });
    transaction.write('res.partner', 11, { active: false });
    const made = transaction.create('res.partner', { name: 'New', is_company: true });
    transaction.commit();
    const next = await askAll({ ...CONTACTS, since: idle.cursor });
    const shown = new Map(next.changes.map((change) => [change.id, change]));
    expect(shown.get(9)).toMatchObject({ change: 'upsert', record: { id: 9, ref: 'Changed' } });
    expect(shown.get(10)).toMatchObject({ change: 'left', record: null });
    expect(shown.get(11)).toMatchObject({ change: 'upsert' });
    expect(shown.get(made)).toEqual({
      change: 'upsert',
      id: made,
      at: expect.stringMatching(/^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      record: { id: made, name: 'New', ref: false },
    });
    expect((await askAll({ ...CONTACTS, since: next.cursor })).changes).toEqual([]);
  },
);

test('gives what a transaction commits late, although its time is earlier than that of the cursor', async () => {
  const { sandbox, askAll } = await startStage();
  let now = Date.UTC(2026, 10, 25, 12);
  sandbox.setClock(() => now);
  let { cursor } = await askAll(REF);
  const late = sandbox.begin();
  now += 600_000;
  const early = sandbox.begin();
  early.write('res.partner', 10, { ref: 'Early' });
  early.commit();
  const first = await askAll({ ...REF, since: cursor });
  expect(first.changes.map(({ id }) => id)).toEqual([10]);
  late.write('res.partner', 9, { ref: 'Late' });
  now += 200_000;
  late.commit();
  const second = await askAll({ ...REF, since: first.cursor });
  expect(second.changes).toMatchObject([{ id: 9, at: '2026-11-25T12:00:00Z', record: { ref: 'Late' } }]);
  ({ cursor } = second);
  expect((await askAll({ ...REF, since: cursor })).changes).toEqual([]);
});

test('gives what is committed late within a quarter of the overlap, although thousands of records change', async () => {
  const { sandbox, proxy, askAll } = await startStage();
  let now = Date.UTC(2026, 10, 25, 12);
  sandbox.setClock(() => now);
  const rows = Array.from({ length: 5000 }, (_, at) => ({ name: `Busy ${at}` }));
  const call = (action: string, ...params: unknown[]) =>
    proxy.call({ action, model_id: 'res.partner', params, erp_instance: { name: 'prod' } });
  const ids = (await call('create', rows)).json.result;
  let { cursor } = await askAll({ ...REF, limit: 1000 });
  const late = sandbox.begin();
  late.write('res.partner', 9, { ref: 'Late' });
  now += 10_000;
  await call('write', ids, { ref: 'Busy' });
  /** Asks every ten seconds until the time is over. Returns the seconds until the late change is given. */
  const poll = async (seconds: number) => {
    for (let waited = 0; waited < seconds; waited += 10, now += 10_000) {
      const answer = await askAll({ ...REF, limit: 1000, since: cursor });
      ({ cursor } = answer);
      if (answer.changes.some(({ id }) => id === 9)) return waited;
    }
    return Number.POSITIVE_INFINITY;
  };
  expect(await poll(20)).toBe(Number.POSITIVE_INFINITY);
  late.commit();
  expect(await poll(500)).toBeLessThanOrEqual(900 / 4 + 10);
});

test('a record that changes twice within one second is given with both of its versions', async () => {
  const { sandbox, askAll } = await startStage();
  let now = Date.UTC(2026, 10, 25, 12);
  sandbox.setClock(() => now);
  const { cursor } = await askAll(REF);
  const write = (ref: string) => {
    const transaction = sandbox.begin();
    transaction.write('res.partner', 9, { ref });
    return transaction;
  };
  now += 60_000;
  write('First').commit();
  now += 200;
  const second = write('Second');
  const first = await askAll({ ...REF, since: cursor });
  expect(first.changes).toMatchObject([{ id: 9, record: { ref: 'First' } }]);
  now += 500_000;
  second.commit();
  expect((await askAll({ ...REF, since: first.cursor })).changes).toMatchObject([
    { id: 9, record: { ref: 'Second' } },
  ]);
});

test('continues within a bulk write of thousands of records with one time, whatever the limit is', async () => {
  const { sandbox, askAll } = await startStage({}, { version: 18, records: { 'res.partner': 3000 } });
  const { cursor, changes: copy } = await askAll({ limit: 1000 });
  const ids = copy.map(({ id }) => id).slice(-2500);
  const bulk = sandbox.begin();
  bulk.write('res.partner', ids, { ref: 'bulk' });
  bulk.commit();
  for (const limit of [1000, 333]) {
    const { changes } = await askAll({ since: cursor, limit });
    expect(changes.map(({ id }) => id)).toEqual(ids);
  }
});

test('more changes than the cursor can tell apart are still given once, and one that is added is not missed', async () => {
  const { sandbox, askAll } = await startStage({}, { version: 18, records: { 'res.partner': 6000 } });
  const { cursor, changes: copy } = await askAll({ ...REF, limit: 1000 });
  const write = (ids: number[], ref: string) => {
    const bulk = sandbox.begin();
    bulk.write('res.partner', ids, { ref });
    bulk.commit();
  };
  const ids = copy.map(({ id }) => id).slice(-5000);
  write(ids, 'bulk');
  const bulk = await askAll({ ...REF, since: cursor, limit: 1000 });
  expect(bulk.changes.map(({ id }) => id)).toEqual(ids);
  expect(bulk.cursor.length).toBeLessThan(64 * 1024);
  expect((await askAll({ ...REF, since: bulk.cursor })).changes).toEqual([]);
  write([ids[777] as number], 'again');
  const again = await askAll({ ...REF, since: bulk.cursor });
  expect(again.changes.map(({ id }) => id)).toContain(ids[777]);
  // At most the records that share a digest with the changed one are given again.
  expect(again.changes.length).toBeLessThan(50);
});

test('a clock that goes back and forth loses nothing', async () => {
  const { sandbox, askAll } = await startStage();
  let now = Date.UTC(2026, 10, 25, 12);
  sandbox.setClock(() => now);
  let { cursor } = await askAll(REF);
  for (const jump of [3600_000, -7200_000, 30_000, -90_000, 86_400_000, -86_400_000]) {
    now += jump;
    const transaction = sandbox.begin();
    transaction.write('res.partner', 9, { ref: `After ${jump}` });
    transaction.commit();
    const next = await askAll({ ...REF, since: cursor });
    expect(next.changes, String(jump)).toMatchObject([{ id: 9, record: { ref: `After ${jump}` } }]);
    ({ cursor } = next);
  }
});

test('a poll without changes is one query by an index, and reads no row, for a thousand records or a million', async () => {
  for (const records of [1000, 1_000_000]) {
    const { sandbox, ask } = await startStage({}, { version: 19, records: { 'res.partner': records } });
    let now = Date.now();
    sandbox.setClock(() => now);
    // Copying a million records would take long. The cursor of a query that few records match is of the same kind.
    const query = { domain: [['id', '=', 9]] };
    let answer = await ask(query);
    while (answer.more) answer = await ask({ ...query, since: answer.cursor });
    const transaction = sandbox.begin();
    transaction.write('res.partner', 9, { ref: 'Changed' });
    transaction.commit();
    answer = await ask({ ...query, since: answer.cursor });
    expect(answer.changes.filter(({ change }) => change === 'upsert').map(({ id }) => id)).toEqual([9]);
    now += 1_000_000;
    answer = await ask({ ...query, since: answer.cursor });
    const before = {
      rows: sandbox.rowsRead,
      ...sandbox.queries,
      calls: sandbox.requests.calls['res.partner.search_read'] as number,
    };
    answer = await ask({ ...query, since: answer.cursor });
    expect(answer.json.result).toMatchObject({ changes: [], more: false });
    expect(sandbox.requests.calls['res.partner.search_read']).toBe(before.calls + 1);
    expect(sandbox.queries.byIndex - before.byIndex).toBeGreaterThan(0);
    expect(sandbox.queries.byScan - before.byScan).toBe(0);
    expect(sandbox.rowsRead - before.rows).toBe(0);
  }
});

test('values are normalized if the caller prefers it', async () => {
  const { ask } = await startStage();
  const answer = await ask(
    { domain: [['id', '=', 9]], fields: ['country_id', 'ref', 'write_date'] },
    { prefer: 'values=normalized' },
  );
  expect(answer.headers['preference-applied']).toBe('values=normalized');
  expect(answer.changes).toMatchObject([
    {
      at: '2026-11-21T01:30:31Z',
      record: {
        id: 9,
        country_id: { id: expect.any(Number) },
        ref: null,
        write_date: '2026-11-21T01:30:31Z',
      },
    },
  ]);
});

test('the calls on Odoo are in the audit under their route, and the id is returned', async () => {
  const { ask, proxy } = await startStage();
  const answer = await ask({ id: 'poll-7', limit: 1 });
  expect(answer.json).toMatchObject({ jsonrpc: '2.0', id: 'poll-7' });
  await expect
    .poll(() => proxy.log.filter(({ via }) => via === 'changes').map(({ method }) => method))
    .toContain('search_read');
});

test('a cursor works after a restart and on another replica, and for a successor of its key', async () => {
  const secret = { 'keys.hashSecret': 'a text of at least thirty-two characters' };
  const settings = {
    'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
    'store.url': `sqlite:${makeFolder()}/proxy.db`,
    ...secret,
  };
  const { proxy, askAll, ask, startOther } = await startStage(settings);
  const { cursor } = await askAll();
  const other = await startOther(settings);
  const answer = await ask({ since: cursor }, { 'x-proxy-api': proxy.key }, other);
  expect(answer.json.result).toMatchObject({ changes: [], more: false });
  const [row] = await proxy.app.keys.list({ after: null, limit: 10 });
  const rotated = await proxy.app.keys.rotate(row?.id as string, { overlapMs: 60_000 });
  const key = (rotated as { key: string }).key;
  expect((await ask({ since: cursor }, { 'x-proxy-api': key })).json.result).toMatchObject({ changes: [] });
});

test('a cursor of another key, instance or user is refused like one that never was', async () => {
  const { sandbox, proxy, ask, createKey } = await startStage();
  const { cursor } = await ask();
  await addInstance(proxy, sandbox, 'other');
  const key = await createKey({ instances: ['*'], models: { '*': ['*'] }, data: ['changes'] });
  const refusals = [
    await ask({ since: cursor }, { 'x-proxy-api': key }),
    await ask({ since: cursor, erp_instance: { name: 'other' } }),
    await ask({ since: `c1.${randomBytes(200).toString('base64url')}` }),
    await ask({ since: cursor.slice(0, -5) }),
    await ask({ since: cursor.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) }),
    await ask({ since: `${cursor.slice(0, 40)}AAAA${cursor.slice(44)}` }),
    await ask({ since: 'yesterday' }),
    await ask({ since: `c1.${'A'.repeat(130_000)}` }),
  ];
  for (const { status, json } of refusals.slice(0, 7))
    expect({ status, error: json.error }).toEqual({ status: 400, error: refusals[0]?.json.error });
  expect(refusals[0]?.json.error).toMatchObject({
    code: -32600,
    message: expect.stringContaining('null to begin again'),
    data: { type: 'invalid_request', path: 'since' },
  });
  expect(refusals[7]?.status).toBe(400);
});

test('a cursor of another version is refused with what to do', async () => {
  const { ask } = await startStage();
  const { json } = await ask({ since: 'c0.AAAA' });
  expect(json.error).toMatchObject({
    message: expect.stringContaining('another version'),
    data: { path: 'since' },
  });
});

test.each([
  ['model_id', { model_id: 'res.country' }],
  ['fields', { fields: ['name', 'ref'] }],
  ['domain', { domain: [['id', '>', 1]] }],
  ['context', { context: { lang: 'fr_FR' } }],
  ['context', { context: { allowed_company_ids: [1] } }],
])('a cursor is refused with another %s', async (path, changed) => {
  const { ask } = await startShared();
  const { cursor } = await ask();
  const { status, json } = await ask({ since: cursor, ...changed });
  expect({ status, path: json.error.data.path }).toEqual({ status: 400, path });
});

test('a context that is null, false or an empty object of PHP is that of the same cursor', async () => {
  const { ask } = await startStage();
  const { cursor } = await ask();
  for (const context of [null, false, [], {}])
    expect((await ask({ since: cursor, context })).status).toBe(200);
});

test('the order of fields and white space do not change a cursor', async () => {
  const { ask } = await startStage();
  const { cursor } = await ask({ fields: ['name', 'ref'], domain: [['id', '>', 1]] });
  const body = `{"model_id":"res.partner","fields":["ref", "name"],"domain":[ [ "id", ">", 1 ] ],"since":"${cursor}","erp_instance":{"name":"prod"}}`;
  expect((await ask(body)).status).toBe(200);
});

test.each([
  ['limit', { limit: 0 }],
  ['limit', { limit: -1 }],
  ['limit', { limit: 1001 }],
  ['limit', { limit: 1.5 }],
  ['limit', { limit: 'all' }],
  ['fields', { fields: [] }],
  ['fields', { fields: null }],
  ['fields', { fields: 'name' }],
  ['fields[1]', { fields: ['name', 'partner_id.name'] }],
  ['fields[1]', { fields: ['name', 'name'] }],
  ['fields[0]', { fields: [7] }],
  ['domain', { domain: 'all' }],
  ['domain', { domain: [['name', '=', 'x'.repeat(70_000)]] }],
  ['context', { context: [1] }],
  ['context.tz', { context: { tz: 'Mars/Base' } }],
  ['since', { since: 7 }],
  ['since', { since: undefined }],
  ['model_id', { model_id: '' }],
  ['sinse', { sinse: null }],
])('a wrong %s is refused: %j', async (path, body) => {
  const { ask, sandbox } = await startShared();
  const callsBefore = countCalls(sandbox);
  const { status, json } = await ask(body);
  const type = path === 'limit' || path === 'context.tz' ? 'invalid_params' : 'invalid_request';
  expect({ status, error: json.error }).toMatchObject({ status: 400, error: { data: { type, path } } });
  expect(countCalls(sandbox)).toEqual(callsBefore);
});

test('a model without write_date is refused, and says so', async () => {
  const { ask } = await startStage();
  const { status, json } = await ask({ model_id: 'mail.notification', fields: ['is_read'] });
  expect(status).toBe(400);
  expect(json.error).toMatchObject({
    message: expect.stringContaining('no `write_date`'),
    data: { type: 'invalid_params', path: 'model_id' },
  });
});

test('errors of Odoo are those of its calls: a field or model that does not exist', async () => {
  const { ask, sandbox } = await startStage();
  const { json } = await ask({ fields: ['nam'] });
  expect(json.error.data).toMatchObject({ type: 'query_invalid', nearest: expect.arrayContaining(['name']) });
  expect((await ask({ model_id: 'res.partnr' })).json.error.data.type).toBe('model_not_found');
  expect((await ask({ domain: [['nam', '=', 1]] })).json.error.data.type).toBe('query_invalid');
  expect((await ask({ erp_instance: { name: 'nowhere' }, since: 'c1.AAAA' })).json.error.data.path).toBe(
    'erp_instance.name',
  );
  const { cursor } = await ask({ fields: ['ref'] });
  sandbox.removeField('res.partner', 'ref');
  expect((await ask({ fields: ['ref'], since: cursor })).json.error.data.type).toBe('query_invalid');
});

test('records that vanish between the calls of an answer are left', async () => {
  const { ask, askAll, sandbox } = await startStage();
  const { cursor } = await askAll(CONTACTS);
  const transaction = sandbox.begin();
  transaction.write('res.partner', [9, 10], { ref: 'x' });
  transaction.commit();
  let calls = 0;
  sandbox.beforeCall(({ method }) => {
    if (method === 'search' && calls++ === 0) sandbox.putRaw('res.partner', 9, null);
  });
  const { changes } = await ask({ ...CONTACTS, since: cursor });
  expect(changes).toMatchObject([
    { change: 'left', id: 9, record: null },
    { change: 'upsert', id: 10 },
  ]);
});

test('a policy decides whether the route may be used, which fields it shows, and how many records a call reads', async () => {
  const { sandbox, ask, askAll, createKey } = await startStage();
  const models = { 'res.partner': ['search_read', 'search'] };
  const without = await createKey({ instances: ['prod'], models });
  const refused = await ask({}, { 'x-proxy-api': without });
  expect(refused.json.error.data).toMatchObject({ type: 'policy_denied', rule: 'data' });
  const key = await createKey({
    instances: ['prod'],
    models,
    data: ['changes'],
    limit_max: 3,
    fields: { 'res.partner': { deny: ['vat', 'email'] } },
  });
  const headers = { 'x-proxy-api': key };
  const { changes, cursor } = await askAll({}, headers);
  expect(changes.length).toBeGreaterThan(20);
  const transaction = sandbox.begin();
  transaction.write('res.partner', [9, 10, 11, 12, 13, 14, 15], { ref: 'x' });
  transaction.commit();
  expect((await askAll({ since: cursor }, headers)).changes.map(({ id }) => id)).toEqual([
    9, 10, 11, 12, 13, 14, 15,
  ]);
  expect((await ask({ fields: ['vat'] }, headers)).json.error.data).toMatchObject({
    rule: expect.stringMatching(/^fields/),
  });
  // Whether a record matches must not reveal a value that the key may not see.
  expect((await ask({ domain: [['vat', '=like', 'B%']] }, headers)).json.error.data).toMatchObject({
    rule: expect.stringMatching(/^fields/),
  });
  const time = await createKey({
    instances: ['prod'],
    models,
    data: ['changes'],
    fields: { 'res.partner': { allow: ['name'] } },
  });
  expect((await ask({}, { 'x-proxy-api': time })).json.error.data).toMatchObject({
    type: 'policy_denied',
    rule: expect.stringMatching(/^fields/),
  });
});

test('a policy whose companies change refuses the cursors of before', async () => {
  const { proxy, ask } = await startStage();
  const policy = { instances: ['prod'], models: { '*': ['*'] }, data: ['changes' as const] };
  const made = await proxy.app.keys.create({ name: 'test', policy: { ...policy, companies: [1] } });
  const headers = { 'x-proxy-api': made.key };
  const { cursor } = await ask({}, headers);
  await proxy.app.keys.update(made.record.id, made.record.version, {
    policy: { ...policy, companies: [1, 2] },
  });
  expect((await ask({ since: cursor }, headers)).json.error.data.path).toBe('context');
});

test('a page that is too large for memory is read with fewer records', async () => {
  const { sandbox, askAll } = await startStage();
  const image = 'A'.repeat(1_500_000);
  const transaction = sandbox.begin();
  for (let id = 9; id < 17; id++) transaction.write('res.partner', id, { image_1920: image });
  transaction.commit();
  const { changes } = await askAll({
    fields: ['image_1920'],
    domain: [['id', 'in', [9, 10, 11, 12, 13, 14, 15, 16]]],
  });
  expect(changes.map(({ id, record }) => [id, String(record?.['image_1920']).length])).toEqual(
    Array.from({ length: 8 }, (_, at) => [9 + at, image.length]),
  );
});

test('the example of the OpenAPI document is answered', async () => {
  const { ask } = await startStage();
  const route = MULTI_CALL_ROUTES.find(({ path }) => path === '/api/erp/changes');
  const { status, json } = await ask(JSON.stringify(route?.example));
  expect(status).toBe(200);
  expect(json).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: {
      changes: expect.arrayContaining([]),
      cursor: expect.stringMatching(/^c1\.[\w-]+$/),
      more: true,
    },
  });
  expect(json.result.changes).toHaveLength(2);
});

test.each([14, 19] as const)(
  'deleted records of Odoo %i are named, although no answer fits them all',
  async (version) => {
    const { ask, askAll, sandbox } = await startStage({}, { version });
    const write = (work: (transaction: ReturnType<typeof sandbox.begin>) => void) => {
      const transaction = sandbox.begin();
      work(transaction);
      transaction.commit();
    };
    const ids: number[] = [];
    write((transaction) => {
      for (let index = 0; index < 20; index++)
        ids.push(transaction.create('res.partner', { name: `Gone ${index}` }));
    });
    const query = { domain: [['name', 'like', 'Gone']], deleted: true };
    const copied = await askAll(query);
    const copy = new Set(copied.changes.map(({ id }) => id));
    expect([...copy].sort()).toEqual(ids.toSorted());
    const deleted = [ids[0], ids[7], ids[8], ids[19]] as number[];
    write((transaction) => {
      for (const id of deleted) transaction.unlink('res.partner', id);
      // A new record that is deleted before its range was ever compared.
      transaction.create('res.partner', { name: 'Gone last' });
    });
    let { cursor } = copied;
    let answers = 0;
    for (let quiet = 0; quiet < 2; answers++) {
      const answer = await ask({ ...query, since: cursor, limit: 1 });
      expect(answer.changes.length).toBeLessThanOrEqual(1);
      for (const { change, id, to = id } of answer.json.result.changes)
        if (change === 'gone') for (let each = id; each <= to; each++) copy.delete(each);
        else copy.add(id);
      ({ cursor } = answer);
      quiet = answer.more || answer.changes.length > 0 ? 0 : quiet + 1;
    }
    expect(answers).toBeLessThan(60);
    const left = ids.filter((id) => !deleted.includes(id));
    expect([...copy].filter((id) => ids.includes(id)).sort()).toEqual(left.toSorted());
    expect(copy.size).toBe(left.length + 1);
  },
);

test('a search for deleted records begins with the cursor', async () => {
  const { askAll, ask } = await startStage();
  const [without, found] = [await askAll(), await askAll({ deleted: true })];
  for (const body of [{ since: without.cursor, deleted: true }, { since: found.cursor }])
    expect((await ask(body)).json.error.data).toMatchObject({ type: 'invalid_request', path: 'deleted' });
});

test.each([
  ['yes', {}, '`deleted` must be true or false, not a string.'],
  [
    true,
    { model_id: 'mail.message', fields: ['body'] },
    'Deleted records of mail.message cannot be found: leave `deleted` out.',
  ],
])('`deleted` %j is refused with what to do', async (deleted, more, message) => {
  const { ask } = await startStage();
  const { status, json } = await ask({ deleted, ...more });
  expect(status).toBe(400);
  expect(json.error.data).toMatchObject({ type: 'invalid_request', path: 'deleted' });
  expect(json.error.data.message ?? json.error.message).toContain(message);
});
