/** The settings of docs/identity-providers.md give the roles that they seem to give. */
import { readFileSync } from 'node:fs';
import { parseOperators } from '@erp-proxy/admin/operators';
import { findRule } from '@erp-proxy/control/tokens/issuers';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const PAGE = readFileSync(new URL('../../../../docs/identity-providers.md', import.meta.url), 'utf8');
const DEFAULTS = {
  scopes: ['openid', 'profile', 'email'],
  sessionMinutes: 60,
  rules: [],
  allowPrivate: false,
  certificates: null,
};

/** The rules in the settings of a section. */
function readRules(heading: string) {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const [, block = ''] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
  const { operators } = parse(block) as { operators: Parameters<typeof parseOperators>[0] };
  const { provider, errors } = parseOperators({ ...DEFAULTS, ...operators, clientSecret: 'secret' }, []);
  expect(errors).toEqual([]);
  return provider!.rules;
}

// Claims of id tokens in the form that each provider documents.
test.each<[string, object, string | null]>([
  ['Keycloak', { sid: 'a', preferred_username: 'ada', groups: ['erp-admins', 'staff'] }, 'admin'],
  ['Keycloak', { preferred_username: 'bob', groups: ['staff', 'erp-sales'] }, 'viewer'],
  ['Keycloak', { preferred_username: 'eve', realm_access: { roles: ['erp-admins'] } }, null],
  ['Keycloak', { preferred_username: 'eve', groups: ['/erp-admins', 'my-erp-admins'] }, null],
  ['Microsoft Entra ID', { tid: 't', oid: 'o', ver: '2.0', roles: ['Erp.Operator'] }, 'operator'],
  ['Microsoft Entra ID', { tid: 't', oid: 'o', ver: '2.0' }, null],
  [
    'Microsoft Entra ID',
    { ver: '2.0', _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://a' } } },
    null,
  ],
  ['Google', { email: 'ada@example.com', email_verified: true, hd: 'example.com' }, 'admin'],
  ['Google', { email: 'bob@example.com', email_verified: true, hd: 'example.com' }, 'viewer'],
  ['Google', { email: 'eve@gmail.com', email_verified: true }, null],
  ['Okta', { ver: 1, groups: ['Everyone', 'erp-support'] }, 'operator'],
  ['Okta', { ver: 1 }, null],
])('%s: %j gets the role %s', (heading, claims, role) => {
  expect(findRule(readRules(heading), { ...claims })?.role ?? null).toBe(role);
});
