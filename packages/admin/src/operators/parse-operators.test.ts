import { expect, test } from 'vitest';
import { type OperatorSettings, parseOperators } from './parse-operators.ts';

const SETTINGS: OperatorSettings = {
  issuer: 'https://login.example.com/realms/corp',
  name: 'corp',
  clientId: 'erp-proxy',
  clientSecret: 'secret of the client',
  scopes: ['openid'],
  sessionMinutes: 60,
  rules: [{ claim: 'groups', value: 'erp', role: 'viewer' }],
  allowPrivate: false,
  certificates: null,
};

const parseRules = (rules: OperatorSettings['rules']) => {
  const { provider, errors, warnings } = parseOperators({ ...SETTINGS, rules }, []);
  expect(errors).toEqual([]);
  return { rules: provider!.rules.map(({ role, instances }) => [role, instances]), warnings };
};

test('refuses another name than that of the same provider in auth.issuers, with or without a slash at its end', () => {
  for (const issuer of [SETTINGS.issuer, `${SETTINGS.issuer}/`]) {
    const { provider, errors } = parseOperators(SETTINGS, [{ name: 'firm', issuer }]);
    expect(provider).toBeNull();
    expect(errors).toEqual([
      'operators.name: is corp, and auth.issuers calls the same provider firm: give both one name, because it begins the id of each person',
    ]);
    expect(parseOperators(SETTINGS, [{ name: 'corp', issuer }]).errors).toEqual([]);
  }
});

test('refuses the name of another provider in auth.issuers', () => {
  const { errors } = parseOperators(SETTINGS, [{ name: 'corp', issuer: 'https://other.example.com' }]);
  expect(errors).toEqual([
    'operators.name: is that of another provider in auth.issuers: choose another name',
  ]);
});

test('the lowest role decides among rules with one condition, and a warning says so', () => {
  const { rules, warnings } = parseRules([
    { claim: 'groups', value: 'erp', role: 'admin' },
    { claim: 'groups', pattern: 'erp', role: 'operator' },
    { claim: ['groups'], value: 'erp', role: 'viewer', instances: ['client-a'] },
    { claim: 'groups', value: 'erp', role: 'approver' },
  ]);
  expect(rules).toEqual([
    ['viewer', ['client-a']],
    ['operator', null],
    ['approver', null],
    ['admin', null],
  ]);
  expect(warnings).toEqual([
    'operators.rules[0] (admin) and rules[2] (viewer) and rules[3] (approver) have the same condition and contradict each other: the lowest role, viewer, decides. Remove all but one.',
  ]);
});

test('rules with different conditions keep their order, and are no contradiction', () => {
  const { rules, warnings } = parseRules([
    { claim: 'groups', value: 'erp-admins', role: 'admin' },
    { claim: 'roles', value: 'erp-admins', role: 'operator' },
    { claim: 'groups', value: 'erp', role: 'viewer', instances: ['b'] },
    { claim: 'groups', value: 'erp', role: 'viewer', instances: ['a'] },
    { role: 'viewer', instances: ['c'] },
  ]);
  expect(rules).toEqual([
    ['admin', null],
    ['operator', null],
    ['viewer', ['b']],
    ['viewer', ['a']],
    ['viewer', ['c']],
  ]);
  expect(warnings).toEqual([]);
});
