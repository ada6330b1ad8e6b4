/**
 * Tests that without `/jsonrpc`, a user outside the group Technical Documentation can call the common methods, and
 * first gets errors about the credentials, the database or the model.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openGateway, type Rule } from './gateway.ts';
import type { Operation } from './operations.ts';
import { openProxy, openSandbox, printOperation } from './stage.ts';

const sandbox = await openSandbox({ version: 22 });
const pass: Rule = () => null;

async function open(rule: Rule = pass) {
  const gateway = await openGateway(sandbox, rule);
  const proxy = await openProxy([gateway], 'auto');
  const call = (operation: Partial<Operation>, instance: Record<string, string> = {}) =>
    proxy.call(
      printOperation(sandbox, {
        name: '',
        model: 'res.partner',
        action: 'fly',
        params: '["x"]',
        user: 'demo',
        ...operation,
        instance: { url: JSON.stringify(gateway.url), ...instance },
      }),
    );
  const sent = (end: string) => gateway.requests.filter(({ path }) => path.endsWith(end));
  return { gateway, call, sent };
}

describe('a user who may not read the doc pages', () => {
  test.each<[string, string, string, string, unknown]>([
    ['res.users', 'context_get', '[]', '{}', { lang: 'en_US', tz: expect.anything(), uid: 8 }],
    ['res.users', 'has_group', '[[8],"base.group_user"]', '{}', true],
    ['res.users', 'has_group', '[8,"base.group_system"]', '{}', false],
    ['res.users', 'has_group', '[[8]]', '{"group_ext_id":"base.group_user"}', true],
    ['res.users', 'has_group', '[]', '{"ids":[8],"group_ext_id":"base.group_user"}', true],
  ])('may call %s %s %s %s', async (model, action, params, keyword, expected) => {
    const { call } = await open();
    expect((await call({ model, action, params, keyword })).json.result).toEqual(expected);
  });

  test.each([
    ['sale.order', 'action_confirm', '[[1]]', 'access_error'],
    ['ir.config_parameter', 'get_param', '["x"]', 'access_error'],
    ['ir.config_parameter', 'set_param', '["x","y"]', 'access_error'],
    ['res.users', 'has_group', '["base.group_user"]', 'invalid_params'],
  ])('gets the error of Odoo for %s %s %s: %s', async (model, action, params, type) => {
    const { call } = await open();
    expect((await call({ model, action, params })).json.error.data.type).toBe(type);
  });
});

describe('an unknown method', () => {
  test.each(['[]', '0'])('does not run without records if `ids` is %s', async (ids) => {
    const { call, sent } = await open();
    const operation = {
      action: 'find_or_create',
      params: '[]',
      keyword: `{"ids":${ids},"email":"a@b.example"}`,
    };
    const { json } = await call(operation);
    expect(json.error).toMatchObject({ code: -32602, data: { path: 'params' } });
    expect(json.error.message).toContain('`ids` is empty');
    expect(sent('/find_or_create')).toEqual([]);
  });

  const WRONG_KEY = { api_key: `"${'f'.repeat(40)}"` };

  test.each<[string, Partial<Operation>, Record<string, string>, string]>([
    ['a wrong key', {}, WRONG_KEY, 'access_denied'],
    ['a key that no header can hold', {}, { api_key: '"pass word\\u00e9"' }, 'access_denied'],
    ["another user's key", {}, { user_id: '2' }, 'access_denied'],
    ['a database that there is not', {}, { db: '"nope_db"' }, 'database_missing'],
    ['a model that there is not', { model: 'res.nope' }, {}, 'model_not_found'],
    ['a model that no path can hold', { model: '...' }, {}, 'model_not_found'],
    ['a wrong key and such a model', { model: 'res.nope' }, WRONG_KEY, 'access_denied'],
    ['a wrong key and such a database', {}, { ...WRONG_KEY, db: '"nope_db"' }, 'database_missing'],
    [
      'a model that there is not, and a mistake',
      { model: 'res.nope', action: 'read', params: '[]' },
      {},
      'model_not_found',
    ],
  ])('and %s', async (_, operation, instance, type) => {
    const { call } = await open();
    expect((await call(operation, instance)).json.error.data.type).toBe(type);
  });

  test('and if nothing else is wrong, asks for names; nothing ran', async () => {
    const { call, sent } = await open();
    const { status, json } = await call({});
    expect([status, json.error.code]).toEqual([400, -32602]);
    expect(sent('/fly')).toHaveLength(0);
  });

  test('is looked up once a minute, not for each call', async () => {
    const { call, sent } = await open();
    for (let i = 0; i < 3; i++) await call({});
    expect(sent('/has_access')).toHaveLength(1);
  });

  test('and a server that breaks the connection meanwhile: the call was not sent', async () => {
    const { call } = await open(({ path }) =>
      path.endsWith('/has_access') ? { status: 0, write: (response) => response.destroy() } : null,
    );
    expect((await call({})).json.error.data).toMatchObject({
      type: 'upstream_unreachable',
      outcome: 'not_sent',
    });
  });
});

describe('a single positional list of ids', () => {
  const TOTP = { model: 'res.users', action: 'get_totp_invite_url' };

  test.each(['[[8]]', '[8]', '[[8,2]]'])('%s of an unknown method is sent as the records', async (params) => {
    const { call, sent } = await open();
    expect((await call({ ...TOTP, params })).json.result).toMatch(/^\/odoo\//);
    expect(JSON.parse(sent('/get_totp_invite_url')[0]!.body)).toEqual({ ids: JSON.parse(params)[0] });
  });

  test('is sent with named arguments', async () => {
    const { call, sent } = await open();
    const { json } = await call({ ...TOTP, params: '[[8]]', keyword: '{"nope":1}' });
    expect(json.error.data.type).toBe('arguments_invalid');
    expect(JSON.parse(sent('/get_totp_invite_url')[0]!.body)).toEqual({ ids: [8], nope: 1 });
  });

  test('is refused without running if the method takes no records', async () => {
    const { call, sent } = await open();
    const { status, json } = await call({ action: 'find_or_create', params: '[[3]]' });
    expect([status, json.error.code]).toEqual([400, -32602]);
    expect(json.error.message).toMatch(/takes no records/);
    // The call is sent once, and Odoo refuses it: see the recording below.
    expect(sent('/find_or_create')).toHaveLength(1);
  });

  test.each(['[[]]', '[0]', '["8"]', '[[8],true]'])('%s is not taken for records', async (params) => {
    const { call, sent } = await open();
    expect((await call({ ...TOTP, params })).json.error.code).toBe(-32602);
    expect(sent('/get_totp_invite_url')).toHaveLength(0);
  });

  test('is refused by a real Odoo with a message that only the route has, before anything runs', () => {
    const line = readFileSync(
      new URL('../../../sandbox/recordings/19.0-json2.jsonl', import.meta.url),
      'utf8',
    )
      .split('\n')
      .find((each) => each.includes('"error-ids-on-api-model"'))!;
    const { request, response } = JSON.parse(line);
    expect(JSON.parse(request.body)).toEqual({ ids: [3], domain: [] });
    expect(response.status).toBe(422);
    expect(JSON.parse(response.body)).toMatchObject({
      name: 'werkzeug.exceptions.UnprocessableEntity',
      message: 'cannot call res.partner.search with ids',
    });
    // Odoo makes this check before it binds the arguments and calls the method: addons/rpc/controllers/json2.py of 19.
  });
});
