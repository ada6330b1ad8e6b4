/**
 * Tests API keys that calls create and revoke, as in 19, over both protocols; and that earlier versions lack the
 * methods.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { speak } from '../../test/speak.ts';
import { type Sandbox, type SandboxOptions, type SandboxUser, startSandbox, type Version } from '../index.ts';

const open: Sandbox[] = [];
afterEach(async () => {
  for (const sandbox of open.splice(0)) await sandbox.close();
});

const noon = Date.UTC(2030, 0, 1, 12);
const day = 86_400_000;

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ version: 19, clock: () => noon, ...options });
  open.push(sandbox);
  return sandbox;
}

const model = 'res.users.apikeys';

interface Outcome {
  readonly result?: unknown;
  /** Class and message of the error. */
  readonly error?: string;
}

type Call = (sandbox: Sandbox, user: SandboxUser, method: string, named: object) => Promise<Outcome>;

const callJsonrpc: Call = async (sandbox, { userId, apiKey }, method, named) => {
  const args = [sandbox.db, userId, apiKey, model, method, [], named];
  const { body } = await speak(sandbox, '/jsonrpc', {
    body: { jsonrpc: '2.0', id: 1, params: { service: 'object', method: 'execute_kw', args } },
  });
  const { result, error } = body as { result?: unknown; error?: { data: Fault } };
  return error ? { error: showFault(error.data) } : { result };
};

const callJson2: Call = async (sandbox, { apiKey }, method, named) => {
  const { status, body } = await speak(sandbox, `/json/2/${model}/${method}`, {
    body: named,
    headers: { authorization: `bearer ${apiKey}` },
  });
  return status === 200 ? { result: body } : { error: showFault(body as Fault) };
};

interface Fault {
  readonly name: string;
  readonly message: string;
}

const showFault = ({ name, message }: Fault) => `${name.split('.').at(-1)}: ${message}`;
const readNames = ({ result }: Outcome) => (result as { name: string }[]).map(({ name }) => name);

describe.each<[string, Call, string]>([
  ['jsonrpc', callJsonrpc, 'AccessDenied: Access Denied'],
  ['json2', callJson2, 'Unauthorized: Invalid apikey'],
])('19 over %s', (_, call, refusal) => {
  const generate = (
    sandbox: Sandbox,
    user: SandboxUser,
    {
      key = user.apiKey,
      scope = null,
      days = 1,
    }: { key?: string; scope?: string | null; days?: number } = {},
  ) => {
    const expiration_date = new Date(noon + days * day).toISOString().slice(0, 19).replace('T', ' ');
    return call(sandbox, user, 'generate', { key, scope, name: 'made', expiration_date });
  };

  test('a created key works at once, and its user sees it without its text', async () => {
    const sandbox = await start({ programmaticKeys: true });
    const { demo } = sandbox.users;
    const { result } = await generate(sandbox, demo, { scope: 'rpc' });
    expect(result).toMatch(/^[0-9a-f]{40}$/);
    const made = { ...demo, apiKey: String(result) };
    const fields = ['name', 'scope', 'create_date', 'expiration_date', 'user_id'];
    const seen = await call(sandbox, made, 'search_read', {
      domain: [['user_id', '=', demo.userId]],
      fields,
    });
    expect(seen.result).toEqual([
      expect.objectContaining({ name: 'key of demo', scope: false, expiration_date: false }),
      {
        id: expect.any(Number),
        name: 'made',
        scope: 'rpc',
        create_date: '2030-01-01 12:00:00',
        expiration_date: '2030-01-02 12:00:00',
        user_id: [8, 'Marc Demo'],
      },
    ]);
    const asked = await call(sandbox, made, 'search_read', { fields: ['key'] });
    expect(asked.error).toContain("Invalid field 'key'");
  });

  test('a revoked key is refused, and the others still work', async () => {
    const sandbox = await start();
    const { admin } = sandbox.users;
    const made = { ...admin, apiKey: String((await generate(sandbox, admin)).result) };
    expect(await call(sandbox, made, 'revoke', { key: admin.apiKey })).toEqual({ result: true });
    expect(await call(sandbox, admin, 'search_count', { domain: [] })).toEqual({ error: refusal });
    expect(await call(sandbox, made, 'search_count', { domain: [] })).toEqual({ result: 2 });
    expect(await call(sandbox, made, 'revoke', { key: admin.apiKey })).toEqual({
      error: 'AccessDenied: The provided API key is invalid.',
    });
  });

  test('an expired key is refused', async () => {
    let now = noon;
    const sandbox = await start({ clock: () => now, keysExpireAt: noon + day });
    const { admin } = sandbox.users;
    now = noon + day;
    expect((await call(sandbox, admin, 'search_count', { domain: [] })).result).toBe(2);
    now += 1000;
    expect(await call(sandbox, admin, 'search_count', { domain: [] })).toEqual({ error: refusal });
  });

  test('only administrators may create keys, unless the parameter allows it to others', async () => {
    const sandbox = await start();
    const { demo, admin } = sandbox.users;
    const closed = { error: 'UserError: Programmatic API keys are not enabled' };
    expect(await generate(sandbox, demo)).toEqual(closed);
    expect(await call(sandbox, demo, 'revoke', { key: demo.apiKey })).toEqual(closed);
    expect((await generate(sandbox, admin)).error).toBeUndefined();
  });

  test.each<[string, object, string]>([
    [
      'the key of another user',
      { key: '5a17b0c5ad0e1111111111111111111111111111' },
      'AccessDenied: The provided API key is invalid or does not belong to the current user.',
    ],
    ['more than 90 days', { days: 90.1 }, 'ValidationError: You cannot exceed 90.0 days.'],
    ['a date in the past', { days: -1 }, 'ValidationError: You cannot set an expiration date in the past.'],
  ])('refuses %s', async (_name, given, error) => {
    const sandbox = await start({ programmaticKeys: true });
    expect(await generate(sandbox, sandbox.users.demo, given)).toEqual({ error });
  });

  test('refuses a key without expiry to everybody but administrators', async () => {
    const sandbox = await start({ programmaticKeys: true });
    const { admin, demo } = sandbox.users;
    const make = (user: SandboxUser) =>
      call(sandbox, user, 'generate', { key: user.apiKey, scope: null, name: 'x', expiration_date: false });
    expect(await make(demo)).toEqual({ error: 'ValidationError: The API key must have an expiration date' });
    expect((await make(admin)).error).toBeUndefined();
  });

  test('refuses an eleventh unexpired key', async () => {
    let now = noon;
    const sandbox = await start({ clock: () => now });
    const { admin } = sandbox.users;
    for (let made = 2; made <= 10; made++) expect((await generate(sandbox, admin)).error).toBeUndefined();
    expect(await generate(sandbox, admin)).toEqual({
      error: 'UserError: Limit of 10 API keys is reached for programmatic creation',
    });
    now += day + 1000;
    expect((await generate(sandbox, admin, { days: 2 })).error).toBeUndefined();
  });

  test('a key with a scope works only if the scope is rpc, and creates only keys of that scope', async () => {
    const sandbox = await start();
    const { admin } = sandbox.users;
    const rpc = String((await generate(sandbox, admin, { scope: 'rpc' })).result);
    const odd = String((await generate(sandbox, admin, { scope: 'odd' })).result);
    expect((await generate(sandbox, { ...admin, apiKey: rpc }, { scope: 'rpc' })).error).toBeUndefined();
    expect((await generate(sandbox, admin, { key: rpc, scope: 'odd' })).error).toMatch(/^AccessDenied/);
    expect(await call(sandbox, { ...admin, apiKey: odd }, 'search_count', { domain: [] })).toEqual({
      error: refusal,
    });
  });

  test('users see their own keys, administrators see all; nobody can write them', async () => {
    const sandbox = await start();
    const { admin, demo } = sandbox.users;
    const ask = (user: SandboxUser) => call(sandbox, user, 'search_read', { fields: ['name'] });
    expect(readNames(await ask(demo))).toEqual(['key of demo']);
    expect(readNames(await ask(admin))).toEqual(['key of admin', 'key of demo']);
    const name = 'x';
    expect((await callJson2(sandbox, admin, 'create', { vals_list: { name } })).error).toMatch(
      /^AccessError/,
    );
    expect((await callJson2(sandbox, admin, 'unlink', { ids: [1] })).error).toMatch(/^AccessError/);
  });
});

test.each<[Version, boolean]>([
  [16, false],
  [17, false],
  [18, true],
])('%i shows keys but creates none; shows their expiry: %s', async (version, tells) => {
  const sandbox = await start({ version });
  const { admin } = sandbox.users;
  const domain = [['user_id', '=', admin.userId]];
  const plain = await callJsonrpc(sandbox, admin, 'search_read', { domain, fields: ['name'] });
  expect(readNames(plain)).toEqual(['key of admin']);
  const dated = await callJsonrpc(sandbox, admin, 'search_read', { domain, fields: ['expiration_date'] });
  if (tells) expect(dated.result).toEqual([{ id: expect.any(Number), expiration_date: false }]);
  else expect(dated.error).toContain("Invalid field 'expiration_date'");
  const made = await callJsonrpc(sandbox, admin, 'generate', { key: admin.apiKey });
  expect(made.error).toMatch(/^AttributeError/);
});

test('reset removes keys that were created', async () => {
  const sandbox = await start();
  const { admin } = sandbox.users;
  const expiration_date = '2030-01-02';
  const named = { key: admin.apiKey, scope: null, name: 'made', expiration_date };
  const { result } = await callJson2(sandbox, admin, 'generate', named);
  sandbox.reset();
  const after = await callJson2(sandbox, { ...admin, apiKey: String(result) }, 'search_count', {
    domain: [],
  });
  expect(after).toEqual({ error: 'Unauthorized: Invalid apikey' });
});
