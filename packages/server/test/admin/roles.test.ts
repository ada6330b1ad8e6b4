/** Every route of the admin API, asked with every role. The routes come from the table of the server. */
import { includesRole, ROLES, type Role } from '@erp-proxy/contract';
import { ADMIN_ROUTES } from '@erp-proxy/http/admin/table';
import { expect, test } from 'vitest';
import { type Json, startAdmin } from './admin-client.ts';

async function startWithTokens() {
  const admin = await startAdmin();
  const entries = await Promise.all(
    ROLES.map(
      async (role) => [role, (await admin.post('/tokens', { name: role, role })).json.token] as const,
    ),
  );
  return { ...admin, tokens: Object.fromEntries(entries) as Record<Role, string> };
}

/** The path with a number as each variable: no object has it as its name. */
const fillIn = (path: string) => path.replaceAll(/:\w+/g, '99');

test('a route answers the roles from its own on, and tells the others which one it needs', async () => {
  const { ask, tokens } = await startWithTokens();
  for (const { method, path, role, isOpen } of ADMIN_ROUTES) {
    for (const held of ROLES) {
      const { status, json } = await ask(method, fillIn(path), { token: tokens[held] });
      const asked = `${method} ${path} as ${held}`;
      expect(status, asked).not.toBe(401);
      if (isOpen || includesRole(held, role)) expect(status, asked).not.toBe(403);
      else {
        expect(status, asked).toBe(403);
        expect(json.detail).toBe(`This needs the role \`${role}\`; you have the role \`${held}\`.`);
      }
    }
  }
});

test('a viewer changes nothing and makes no call, an approver only decides, and an operator reaches no operator', () => {
  const changes = (role: Role) =>
    ADMIN_ROUTES.filter(
      (route) =>
        route.method !== 'GET' && !route.isOpen && includesRole(role, route.role) && !route.isReadOnly,
    ).map(({ id }) => id);
  expect(changes('viewer')).toEqual([]);
  expect(changes('approver')).toEqual(['approveCall', 'refuseCall']);
  const beyond = changes('admin').filter((id) => !changes('operator').includes(id));
  expect(beyond).toEqual([
    'denySubject',
    'allowSubject',
    'signOutPerson',
    'createToken',
    'revokeToken',
    'beginApply',
    'resealVault',
    'startSandbox',
  ]);
  const reads = ADMIN_ROUTES.filter(({ method, role }) => method === 'GET' && role !== 'viewer');
  expect(reads.map(({ id }) => id)).toEqual(['listTokens']);
});

test('a role that is too low is refused before the body is read', async () => {
  const { ask, tokens, listAdminActions } = await startWithTokens();
  const before = (await listAdminActions()).length;
  const given = { token: tokens.approver, body: { name: 'Shop' } };
  expect((await ask('POST', '/keys', given)).status).toBe(403);
  expect((await ask('POST', '/keys', { ...given, body: '{' })).status).toBe(403);
  expect((await ask('GET', '/keys')).json.items).toHaveLength(1);
  expect(await listAdminActions()).toHaveLength(before);
});

test('the session shows who the caller is, with which role', async () => {
  const { get, tokens, listAdminActions } = await startWithTokens();
  const made: Json = (await listAdminActions()).find(({ changes }) => changes.role.to === 'operator');
  const id = made.target.replace('token ', '');
  expect((await get('/session', { token: tokens.operator })).json).toEqual({
    actor: { type: 'token', id, name: 'operator' },
    role: 'operator',
    instances: null,
    other_roles: [],
    expires_at: null,
  });
});
