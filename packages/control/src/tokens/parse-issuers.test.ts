import { expect, test } from 'vitest';
import { parseIssuers } from './parse-issuers.ts';

const POLICY = { instances: ['prod'], models: { 'res.partner': ['read'] } };
const ISSUER = {
  name: 'corp',
  issuer: 'https://login.example.com/realms/corp',
  audience: ['https://erp.example.com'],
  rules: [{ policy: POLICY }],
};

const explain = (changes: object, policies = {}) =>
  parseIssuers({ issuers: [{ ...ISSUER, ...changes }], policies }).errors;

test('reads an issuer, with its defaults', () => {
  const { issuers, errors } = parseIssuers({ issuers: [ISSUER], policies: {} });
  expect(errors).toEqual([]);
  expect(issuers).toMatchObject([
    {
      name: 'corp',
      url: ISSUER.issuer,
      audience: ISSUER.audience,
      jwksUrl: null,
      clockSkewSeconds: 60,
      maxLifetimeSeconds: 86_400,
      scopes: [],
      trust: null,
      rules: [{ claim: null, policy: { text: expect.stringContaining('res.partner') } }],
    },
  ]);
  expect(issuers[0]?.algorithms).not.toContain('HS256');
});

test('a rule can name a policy of auth.policies', () => {
  expect(explain({ rules: [{ policy: 'reader' }] }, { reader: POLICY })).toEqual([]);
  expect(explain({ rules: [{ policy: 'writer' }] }, { reader: POLICY })).toEqual([
    'auth.issuers[0].rules[0].policy: names a policy that auth.policies does not have: writer',
  ]);
});

test.each<[object, string]>([
  [{ name: 'Corp' }, 'auth.issuers[0].name: must be 1 to 32 lower-case letters'],
  [{ name: 'a/b' }, 'auth.issuers[0].name: must be'],
  [{ issuer: 'login.example.com' }, 'auth.issuers[0].issuer: must be an https URL'],
  [{ issuer: 'https://login.example.com?x=1' }, 'auth.issuers[0].issuer: must be an https URL'],
  [{ issuer: 'https://user:secret@login.example.com' }, 'auth.issuers[0].issuer: must be an https URL'],
  [{ jwksUrl: 7 }, 'auth.issuers[0].jwksUrl: must be an https URL'],
  [{ audience: undefined }, 'auth.issuers[0].audience: must list what tokens for this proxy have in `aud`'],
  [{ audience: 'x' }, 'auth.issuers[0].audience: must be a list'],
  [{ audience: [] }, 'auth.issuers[0].audience: is empty'],
  [{ algorithms: ['HS256'] }, 'auth.issuers[0].algorithms[0]: must be one of RS256'],
  [{ algorithms: ['none'] }, 'auth.issuers[0].algorithms[0]: must be one of RS256'],
  [
    { clockSkewSeconds: 301 },
    'auth.issuers[0].clockSkewSeconds: must be a whole number of seconds from 0 to 300',
  ],
  [{ maxLifetimeSeconds: 1 }, 'auth.issuers[0].maxLifetimeSeconds: must be a whole number'],
  [{ scopes: ['a b'] }, 'auth.issuers[0].scopes[0]: must be one scope'],
  [{ certificates: 'x' }, 'auth.issuers[0].certificates: must be PEM'],
  [{ allowPrivate: 'yes' }, 'auth.issuers[0].allowPrivate: must be true or false'],
  [{ audiences: ['x'] }, 'auth.issuers[0].audiences: is not known; did you mean `issuers[0].audience`?'],
  [{ rules: undefined }, 'auth.issuers[0].rules: must list at least one rule'],
  [{ rules: ['sales'] }, 'auth.issuers[0].rules[0]: must be an object'],
  [{ rules: [{ policy: POLICY }, { policy: POLICY }] }, 'auth.issuers[0].rules[1]: never applies'],
  [
    { rules: [{ claim: 'x', policy: POLICY }] },
    'auth.issuers[0].rules[0]: must have either `value` or `pattern`',
  ],
  [
    { rules: [{ claim: 'x', value: 1, pattern: '*', policy: POLICY }] },
    'auth.issuers[0].rules[0]: must have either',
  ],
  [{ rules: [{ claim: 'x', value: {}, policy: POLICY }] }, 'auth.issuers[0].rules[0].value: must be a text'],
  [{ rules: [{ claim: [], value: 1, policy: POLICY }] }, 'auth.issuers[0].rules[0].claim: must be the name'],
  [{ rules: [{ value: 1, policy: POLICY }] }, 'auth.issuers[0].rules[0]: has a condition without a `claim`'],
  [{ rules: [{ claims: 'x', policy: POLICY }] }, 'auth.issuers[0].rules[0].claims: is not known'],
  [{ rules: [{}] }, 'auth.issuers[0].rules[0].policy: a policy must be an object'],
  [
    { rules: [{ policy: { models: { 'res.partner': ['read'] } } }] },
    'auth.issuers[0].rules[0].policy: names no server',
  ],
  [{ rules: [{ policy: { ...POLICY, see: 1 } }] }, 'auth.issuers[0].rules[0].policy.see: is not known'],
])('reports %j', (changes, message) => {
  const errors = explain(changes);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain(message);
});

test('refuses a policy for the source of web pages', () => {
  const publishable = {
    ...POLICY,
    fields: { '*': { allow: ['name'] } },
    read_only: true,
    publishable: true,
    cors_origins: ['https://shop.example.com'],
    rate: { requests: 1, seconds: 1 },
    limit_max: 10,
  };
  expect(explain({ rules: [{ policy: publishable }] }).join()).toContain('publishable');
});

test('two issuers have different names and addresses', () => {
  expect(parseIssuers({ issuers: [ISSUER, ISSUER], policies: {} })).toEqual({
    issuers: [],
    errors: [
      'auth.issuers[1].name: is that of another issuer',
      'auth.issuers[1].issuer: is that of another issuer',
    ],
  });
});

test('reports all errors at once, and those of unused policies', () => {
  const errors = explain({ name: '', audience: [] }, { unused: {} });
  expect(errors.map((error) => error.split(':')[0])).toEqual([
    'auth.policies["unused"].models',
    'auth.policies["unused"]',
    'auth.issuers[0].name',
    'auth.issuers[0].audience',
  ]);
});
