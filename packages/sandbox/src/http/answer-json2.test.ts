import { afterAll, describe, expect, test } from 'vitest';
import { executeKw, speak } from '../../test/speak.ts';
import { type Sandbox, startSandbox, type Version } from '../index.ts';

const open = new Map<Version, Sandbox>();
afterAll(async () => {
  for (const sandbox of open.values()) await sandbox.close();
});

async function serve(version: Version): Promise<Sandbox> {
  const sandbox = open.get(version) ?? (await startSandbox({ version }));
  open.set(version, sandbox);
  return sandbox;
}

const read = '/json/2/res.partner/read';
const body = { ids: [3], fields: ['name'] };
const admin = [{ id: 3, name: 'Mitchell Admin' }];

describe('only 19 and 22 speak json2', () => {
  test.each<[Version, number, RegExp]>([
    [16, 404, /text\/html/],
    [17, 404, /text\/html/],
    [18, 303, /text\/html/],
    [19, 200, /application\/json/],
    [22, 200, /application\/json/],
  ])('%i answers %i', async (version, status, type) => {
    const answer = await speak(await serve(version), read, { body });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(type);
    if (status === 200) expect(answer.body).toEqual(admin);
    if (status === 303) expect(answer.headers.get('location')).toMatch(/^\/web\/login\?redirect=%2Fjson%2F2/);
  });
});

describe('22', () => {
  test.each(['/jsonrpc', '/xmlrpc/2/common'])('has no %s: the page of an unknown path', async (path) => {
    const gone = await speak(await serve(22), path, { body: {} });
    const unknown = await speak(await serve(19), '/no/such/path', { body: {} });
    expect([gone.status, gone.text]).toEqual([404, unknown.text]);
    expect([...gone.headers.keys()].sort()).toEqual([...unknown.headers.keys()].sort());
  });

  test.each(['/json/version', '/web/version'])('returns its version at %s', async (path) => {
    expect((await speak(await serve(22), path)).text).toBe(
      '{"version_info": [22, 0, 0, "final", 0, ""], "version": "22.0"}',
    );
  });

  test('returns its version to the web client', async () => {
    const answer = await speak(await serve(22), '/web/webclient/version_info', { body: { params: {} } });
    expect(answer.body).toMatchObject({
      result: {
        server_version: '22.0',
        server_version_info: [22, 0, 0, 'final', 0, ''],
        server_serie: '22.0',
      },
    });
  });
});

describe('the checks come in order: database, content type, bearer, body, model, method, ids, arguments', () => {
  const wrong = {
    database: { 'x-odoo-database': 'nope' },
    type: { 'content-type': 'text/plain' },
    bearer: { authorization: 'bearer nope' },
  };
  test.each<[string, string, unknown, Record<string, string>, number, string | undefined]>([
    ['database', read, '{', { ...wrong.database, ...wrong.type, ...wrong.bearer }, 404, undefined],
    ['type', read, '{', { ...wrong.type, ...wrong.bearer }, 415, undefined],
    ['bearer', '/json/2/res.nope/read', '{', wrong.bearer, 401, 'Invalid apikey'],
    [
      'body',
      '/json/2/res.nope/read',
      '[1',
      {},
      400,
      "could not parse the body as json: Expecting ',' delimiter: line 1 column 3 (char 2)",
    ],
    ['model', '/json/2/res.nope/_nope', {}, {}, 404, "the model 'res.nope' does not exist"],
    [
      'private method',
      '/json/2/res.partner/_nope',
      {},
      {},
      403,
      "Private methods (such as 'res.partner._nope') cannot be called remotely.",
    ],
    [
      'method',
      '/json/2/res.partner/nope',
      { ids: 1 },
      {},
      404,
      "The method 'res.partner.nope' does not exist",
    ],
    [
      'ids',
      '/json/2/res.partner/search',
      { ids: [3], nope: 1 },
      {},
      422,
      'cannot call res.partner.search with ids',
    ],
    [
      'missing argument',
      '/json/2/res.partner/write',
      { ids: [3], nope: 1 },
      {},
      422,
      "missing a required argument: 'vals'",
    ],
    ['unknown argument', read, { ids: [3], nope: 1 }, {}, 422, "got an unexpected keyword argument 'nope'"],
    ['escapes', '/json/2/%zz/read', {}, {}, 404, "the model '%zz' does not exist"],
  ])('wrong %s', async (_, path, sent, headers, status, message) => {
    const answer = await speak(await serve(19), path, { body: sent, headers });
    expect([answer.status, (answer.body as { message?: string } | undefined)?.message]).toEqual([
      status,
      message,
    ]);
  });
});

test('refuses a password, and counts it as a wrong key', async () => {
  const sandbox = await serve(19);
  const before = sandbox.requests.wrongKeys;
  expect((await speak(sandbox, read, { body, headers: { authorization: 'bearer admin' } })).status).toBe(401);
  expect(sandbox.requests.wrongKeys).toBe(before + 1);
});

test('silently does nothing without ids', async () => {
  const sandbox = await serve(19);
  const answer = await speak(sandbox, '/json/2/res.partner/write', { body: { vals: { name: 'x' } } });
  expect([answer.status, answer.body]).toEqual([200, true]);
  expect((await speak(sandbox, read, { body })).body).toEqual(admin);
});

test('a fault rolls everything back', async () => {
  const sandbox = await serve(19);
  const vals_list = [{ name: 'First' }, { name: 'Second', nope: 1 }];
  const answer = await speak(sandbox, '/json/2/res.partner/create', { body: { vals_list } });
  expect(answer.status).toBe(500);
  expect(await executeKw(sandbox, 'res.partner', 'search_count', [[['name', '=', 'First']]])).toBe(0);
});

test('a fault contains a traceback with server paths, so that tests detect leaks', async () => {
  const answer = await speak(await serve(22), '/json/2/res.partner/search', {
    body: { domain: [['nope', '=', 1]] },
  });
  expect(answer.status).toBe(500);
  expect((answer.body as { debug: string }).debug).toMatch(/File "\/opt\/odoo\//);
});

test('a text that Python cannot encode gives its page for 500', async () => {
  const answer = await speak(await serve(19), '/json/2/res.partner/write', {
    body: '{"ids": [3], "vals": {"ref": "\\ud800"}}',
  });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([500, 'text/html; charset=utf-8']);
});
